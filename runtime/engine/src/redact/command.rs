//! The command around a place in a text: its program, its operands so far, and its input.

use std::ops::Range;

use super::program::{PRINTERS, Place, READERS, RULES, Rule, SEARCHES, SUDO_VALUED, WRAPPERS};
use super::{name, program::Reader};

const _: () = assert!(RULES.len() <= 128 && READERS.len() <= 32, "a bit for each");

/// The most bytes of a word that may be a program.
const PROGRAM_BYTES_MAX: usize = 32;

/// One simple command, as far as it was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Command {
    /// The rules of its programs, a bit for each.
    rules: u128,
    /// Those of them whose program is within the same quotes.
    own: u128,
    /// The rules whose word was read.
    after: u128,
    /// The readers whose program was read, and the words of each.
    readers: u32,
    words: [u8; READERS.len()],
    /// The operands since the word of each rule are counted from this number on.
    operands: u8,
    from: [u8; RULES.len()],
    /// Whether its program was read.
    is_begun: bool,
    /// Whether options of `sudo` may follow, and whether the next word is the value of one.
    is_sudo: bool,
    is_valued: bool,
    is_search: bool,
    /// The place after `echo`.
    pub(super) printed_from: Option<usize>,
}

impl Default for Command {
    fn default() -> Self {
        Self {
            rules: 0,
            own: 0,
            after: 0,
            readers: 0,
            words: [0; READERS.len()],
            operands: 0,
            from: [0; RULES.len()],
            is_begun: false,
            is_sudo: false,
            is_valued: false,
            is_search: false,
            printed_from: None,
        }
    }
}

impl Command {
    /// Returns whether the program of the command was read.
    pub(super) fn is_begun(&self) -> bool {
        self.is_begun
    }

    /// Returns whether the words of the command are patterns.
    pub(super) fn is_search(&self) -> bool {
        self.is_search
    }

    /// Returns the command within quotes of this one: `bash -c "…"`.
    pub(super) fn within(&self) -> Self {
        Self { own: 0, is_begun: false, is_sudo: false, printed_from: None, ..*self }
    }

    /// Joins the command that was within quotes. The quotes may be apostrophes, and the command this
    /// one.
    pub(super) fn join(&mut self, within: &Self) {
        self.rules |= within.rules;
        self.after |= within.after;
        self.printed_from = self.printed_from.or(within.printed_from);
    }

    /// Returns the rules that apply after the words so far, each with its number.
    pub(super) fn rules(&self) -> impl Iterator<Item = (usize, &'static Rule)> + use<> {
        let (rules, after) = (self.rules, self.after);
        RULES.iter().enumerate().filter(move |(number, rule)| {
            has(rules, *number) && (rule.after.is_empty() || has(after, *number))
        })
    }

    /// Returns whether a secret may follow its name after a blank.
    pub(super) fn takes_named(&self) -> bool {
        self.rules().any(|(_, rule)| rule.place == Place::Named)
    }

    /// Reads a word that begins with a dash. Returns whether it makes the command read a secret
    /// from its input.
    pub(super) fn read_option(&mut self, word: &[u8]) -> bool {
        self.read_after(word);
        if self.is_sudo && !self.is_begun {
            let cluster = word.strip_prefix(b"-").unwrap_or_default();
            let is_letters = !cluster.is_empty() && cluster.iter().all(u8::is_ascii_alphabetic);
            let last = cluster.last();
            self.is_valued = is_letters && last.is_some_and(|last| SUDO_VALUED.contains(last));
            if word == b"--stdin" || (is_letters && cluster.contains(&b'S')) {
                return true;
            }
        }
        let dashes = word.iter().take_while(|byte| **byte == b'-').count();
        name::is_from_input(word.get(dashes..).unwrap_or_default())
    }

    /// Reads any other word, which ends at `end`.
    pub(super) fn read_word(&mut self, word: &[u8], end: usize) {
        if std::mem::take(&mut self.is_valued) {
            return;
        }
        self.operands = self.operands.saturating_add(1);
        let name = word.strip_suffix(b".exe").unwrap_or(word);
        let is_first = !self.is_begun;
        if is_first {
            self.begin(name, end);
        }
        if !name.is_empty() && name.len() <= PROGRAM_BYTES_MAX {
            self.read_program(name, is_first);
            self.read_after(name);
        }
    }

    /// Returns whether the command reads a secret from its input because of its program.
    pub(super) fn reads_secret(&self) -> bool {
        let is_complete = |place: usize, reader: &Reader| {
            let count = self.words.get(place).copied().unwrap_or_default();
            self.readers >> place & 1 == 1 && usize::from(count) >= reader.words.len()
        };
        READERS.iter().enumerate().any(|(place, reader)| is_complete(place, reader))
    }

    /// Returns the number of operands after the program or the word of a rule; `None` if that is
    /// outside of the quotes around this place.
    pub(super) fn operands_of(&self, number: usize) -> Option<u8> {
        let from = *self.from.get(number)?;
        has(self.own, number).then_some(self.operands.saturating_sub(from))
    }

    fn read_program(&mut self, name: &[u8], is_first: bool) {
        for (number, rule) in RULES.iter().enumerate() {
            if rule.programs.iter().any(|program| program.as_bytes() == name) {
                self.rules |= 1 << number;
                self.own |= 1 << number;
                self.count_from(number);
            }
        }
        for (number, reader) in READERS.iter().enumerate() {
            if reader.program.as_bytes() == name && (is_first || !reader.is_first) {
                self.readers |= 1 << number;
            }
        }
    }

    fn begin(&mut self, name: &[u8], end: usize) {
        let is_in = |names: &[&str]| names.iter().any(|other| other.as_bytes() == name);
        if is_in(WRAPPERS) {
            self.is_sudo = name == b"sudo" || name == b"doas";
            return;
        }
        // `timeout 5 passwd`
        if name.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.' || *byte == b's') {
            return;
        }
        self.is_begun = true;
        self.is_search |= is_in(SEARCHES);
        self.printed_from = is_in(PRINTERS).then_some(end);
    }

    fn read_after(&mut self, word: &[u8]) {
        for (number, rule) in RULES.iter().enumerate() {
            let is_awaited = has(self.rules, number) && !has(self.after, number);
            if is_awaited && !rule.after.is_empty() && rule.after.as_bytes() == word {
                self.after |= 1 << number;
                self.count_from(number);
            }
        }
        for (place, reader) in READERS.iter().enumerate() {
            let Some(count) = self.words.get_mut(place) else { continue };
            let next = reader.words.get(usize::from(*count));
            if self.readers >> place & 1 == 1 && next.is_some_and(|next| next.as_bytes() == word) {
                *count += 1;
            }
        }
    }

    fn count_from(&mut self, number: usize) {
        if let Some(from) = self.from.get_mut(number) {
            *from = self.operands;
        }
    }
}

fn has(bits: u128, number: usize) -> bool {
    bits >> number & 1 == 1
}

/// Commands that are joined by `|`, as far as they were read.
#[derive(Debug, Default)]
pub(super) struct Pipeline {
    /// The operands of `echo`, and here-strings.
    pub(super) inputs: Vec<Range<usize>>,
    /// The last words of here-documents whose bodies follow the line.
    pub(super) here_docs: Vec<Range<usize>>,
    /// Whether one of the commands reads a secret from its input.
    pub(super) reads_secret: bool,
}
