//! The scan for secrets beside names: assignments, headers, flags, and what programs take.
//!
//! One pass from left to right. Each step reads a run of name characters or one other character,
//! and a value that is hidden is skipped, so the pass is linear.

use std::ops::Range;

use super::found::Found;
use super::mark::{NAME_BYTES_MAX, PAIR_BYTES_MAX};
use super::name::{self, Secret};
use super::named::{self, Separator};
use super::nesting::{Closer, quote_at};
use super::part;
use super::plain::{is_plain, is_prose};
use super::program::{Part, Place};
use super::shell::Shell;
use super::text::{Text, is_blank, is_name};
use super::value::{self, Ending, HeaderKind};

/// Adds the secrets that a text has beside names.
pub(super) fn scan(text: &Text<'_>, found: &mut Found) {
    let shell = Shell::new(text, found);
    let mut scanner = Scanner { shell, last_run: 0..0, pair_until: 0 };
    let mut at = 0;
    while at < text.len() {
        at = scanner.step(at).max(at + 1);
    }
    scanner.shell.end_all();
}

struct Scanner<'s, 't> {
    shell: Shell<'s, 't>,
    last_run: Range<usize>,
    /// The end of the text in which `value: …` belongs to the name of a secret.
    pair_until: usize,
}

impl Scanner<'_, '_> {
    /// Reads on from a place; returns the next one.
    fn step(&mut self, at: usize) -> usize {
        let byte = self.shell.text.at(at);
        if self.shell.is_start && !is_blank(byte) {
            self.shell.is_start = false;
            if let Some(next) = self.word(at) {
                return next;
            }
        }
        match byte {
            _ if is_name(byte) => self.run(at),
            b'"' | b'\'' | b'`' | b'\\' => self.shell.quote(at),
            b'\n' => self.shell.end_line(at),
            b';' | b'|' | b'&' => self.shell.operator(at),
            b'<' => self.shell.input(at),
            b'(' => self.shell.open(at),
            b')' => {
                self.shell.close(Closer { byte: b')', slashes: 0 });
                at + 1
            }
            _ => {
                self.shell.is_start = is_blank(byte) || byte == b'{';
                at + 1
            }
        }
    }

    /// Reads the beginning of a word of a command. Returns the place after a secret.
    fn word(&mut self, at: usize) -> Option<usize> {
        let end = self.shell.text.run(at, |byte| is_name(byte) || matches!(byte, b'/' | b'~'));
        let word = self.shell.text.get(at..end.min(at + NAME_BYTES_MAX));
        if word.starts_with(b"-") {
            self.shell.pipeline.reads_secret |= self.shell.command.read_option(word);
            return self.option(at, end);
        }
        if self.shell.text.at(end) == b'=' && !self.shell.command.is_begun() {
            return None;
        }
        let name = memchr::memrchr(b'/', word).map_or(word, |slash| {
            let (folder, name) = word.split_at(slash + 1);
            if folder.ends_with(b"bin/") || folder == b"./" { name } else { b"" }
        });
        self.shell.command.read_word(name, end);
        self.shell.pipeline.reads_secret |= self.shell.command.reads_secret();
        for (number, rule) in self.shell.command.rules() {
            let is_next = match rule.place {
                Place::Operand(count) => self.shell.command.operands_of(number) == Some(count),
                _ => false,
            };
            if is_next && let Some(next) = self.take(at, rule.part) {
                return Some(next);
            }
            let is_named = matches!(rule.place, Place::Word(name) if word.eq_ignore_ascii_case(name.as_bytes()));
            if is_named && let Some(next) = self.separate(end, rule.part) {
                return Some(next);
            }
        }
        None
    }

    /// Reads an option of a program with rules.
    fn option(&mut self, at: usize, end: usize) -> Option<usize> {
        for (number, rule) in self.shell.command.rules() {
            let next = match rule.place {
                Place::Letter(letter, before) => self.letter(at, letter, before, rule.part),
                Place::FirstLetter(letter) if self.shell.command.operands_of(number) == Some(0) => {
                    self.letter(at, letter, "", rule.part)
                }
                Place::Joined(letters) => self.joined(at, letters, rule.part),
                Place::Option(name) => self.long(at, end, name, rule.part),
                _ => None,
            };
            if next.is_some() {
                return next;
            }
        }
        None
    }

    /// Reads `-u x` and `-ux`.
    fn letter(&mut self, at: usize, letter: u8, before: &str, part: Part) -> Option<usize> {
        let start =
            self.shell.text.run(at + 1, |byte| byte != letter && before.as_bytes().contains(&byte));
        if self.shell.text.at(start) != letter {
            return None;
        }
        let next = self.shell.text.at(start + 1);
        let is_closed = quote_at(self.shell.text, start + 1)
            .is_some_and(|(closer, _)| self.shell.nesting.is_open(closer));
        if is_blank(next) || is_closed {
            return self.separate(start + 1, part);
        }
        let joined = start + 1 + usize::from(next == b'=');
        self.take(joined, part)
    }

    /// Reads `-px`.
    fn joined(&mut self, at: usize, letters: &str, part: Part) -> Option<usize> {
        let start = at + 1 + letters.len();
        let is_joined =
            self.shell.text.has(at + 1, letters.as_bytes()) && !is_blank(self.shell.text.at(start));
        if is_joined { self.take(start, part) } else { None }
    }

    /// Reads `--name x`, `--name=x`, and both with one dash.
    fn long(&mut self, at: usize, end: usize, name: &str, part: Part) -> Option<usize> {
        let start = self.shell.text.run(at, |byte| byte == b'-').min(at + 2);
        let word_end = start + name.len();
        if !self.shell.text.has(start, name.as_bytes()) || word_end != end {
            return None;
        }
        if self.shell.text.at(end) == b'=' {
            return self.take(end + 1, part);
        }
        self.separate(end, part)
    }

    /// Hides the secret part of the word after a place. A quote around the option is closed first.
    fn separate(&mut self, end: usize, part: Part) -> Option<usize> {
        let mut at = end;
        if let Some((closer, after)) = quote_at(self.shell.text, at)
            && self.shell.nesting.is_open(closer)
        {
            self.shell.close(closer);
            at = after;
        }
        if !is_blank(self.shell.text.at(at)) {
            return (at > end).then_some(at);
        }
        let at = self.next_word(at);
        match self.take(at, part) {
            Some(next) => Some(next),
            None => (at > end + 1).then_some(at - 1),
        }
    }

    /// Returns the next word of a command, which a backslash may continue on the next line.
    fn next_word(&self, at: usize) -> usize {
        let mut at = self.shell.text.skip_blanks(at);
        while self.shell.text.has(at, b"\\\n") {
            at = self.shell.text.skip_blanks(at + 2);
        }
        at
    }

    fn take(&mut self, at: usize, part: Part) -> Option<usize> {
        let value = self.shell.value(at, Ending::Word)?;
        if part == Part::Source && self.shell.text.get(value.inner.clone()) == b"stdin" {
            self.shell.pipeline.reads_secret = true;
        }
        part::hide(self.shell.text, &value, part, self.shell.found).then_some(value.end)
    }

    /// Reads a run of name characters.
    fn run(&mut self, start: usize) -> usize {
        let end = self.shell.text.run(start, is_name);
        let before = std::mem::replace(&mut self.last_run, start..end);
        let name = self.shell.text.get(start.max(end.saturating_sub(NAME_BYTES_MAX))..end);
        let next = self.named(start, end, name, before);
        next.or_else(|| self.flag(start, end, name))
            .or_else(|| self.bare_word(end, name))
            .unwrap_or(end)
    }

    /// Reads a name with a separator and a value.
    fn named(
        &mut self,
        start: usize,
        end: usize,
        name: &[u8],
        before: Range<usize>,
    ) -> Option<usize> {
        let separator = named::separator(self.shell.text, start, end)?;
        if let Some(kind) = named::header(name) {
            self.close_name(end);
            return self.header(&separator, kind, start);
        }
        let is_pair = start < self.pair_until && named::is_value(name);
        let is_joined = before.end + 1 == start && self.shell.text.before(start) == b' ';
        let secret = match name::secret(named::without_dashes(name)) {
            Some(secret) => secret,
            None if is_pair => Secret::Value,
            None if is_joined && name::is_key_of(self.shell.text.get(before), name) => Secret::Key,
            None => {
                self.pair(name, &separator);
                return None;
            }
        };
        if named::is_other(self.shell.text, secret, &separator, self.shell.command.is_search()) {
            return None;
        }
        self.close_name(end);
        let value = match separator.kind {
            named::Kind::Element => value::element(self.shell.text, separator.value)?,
            _ if separator.is_list => value::list(self.shell.text, separator.value),
            _ => self.shell.value(separator.value, separator.ending)?,
        };
        if named::is_harmless(self.shell.text, name, secret, &separator, &value) {
            return None;
        }
        self.shell.found.add(value.inner);
        Some(value.end)
    }

    /// Closes the quote around a name, so that the value may have a quote of its own.
    fn close_name(&mut self, end: usize) {
        if let Some((closer, _)) = quote_at(self.shell.text, end) {
            self.shell.close(closer);
        }
    }

    /// Remembers the name of a secret whose value follows: `name: DB_PASSWORD`, `value: x`.
    fn pair(&mut self, name: &[u8], separator: &Separator) {
        if !named::is_key(name) {
            return;
        }
        let quote = quote_at(self.shell.text, separator.value);
        let start = quote.map_or(separator.value, |(_, after)| after);
        let end = self.shell.text.run(start, |byte| is_name(byte) || byte == b'/');
        let value = self.shell.text.get(start..end.min(start + NAME_BYTES_MAX));
        let last = value.rsplit(|byte| *byte == b'/').next();
        if last.is_some_and(|last| name::secret(last).is_some()) {
            self.pair_until = end + PAIR_BYTES_MAX;
        }
    }

    fn header(&mut self, separator: &Separator, kind: HeaderKind, start: usize) -> Option<usize> {
        let at = separator.value;
        let quoted = quote_at(self.shell.text, at)
            .filter(|(closer, _)| !self.shell.nesting.is_open(*closer) && closer.byte != b'`');
        let first = named::first_word(self.shell.text, at);
        if quoted.is_none() && is_prose(first) {
            return None;
        }
        // `curl -H Authorization:x URL`
        let is_word = !separator.is_apart
            && !self.shell.nesting.is_quoted()
            && matches!(self.shell.text.before(start), b' ' | b'\t');
        let value = match quoted {
            Some(_) => self.shell.value(at, Ending::Word)?,
            None if is_word => self.shell.value(at, Ending::Word)?,
            None => value::header(self.shell.text, at, kind, &self.shell.nesting),
        };
        let inner = named::after_scheme(self.shell.text, value.inner.clone())..value.inner.end;
        if inner.is_empty()
            || named::is_scheme(self.shell.text.get(inner.clone()))
            || is_plain(self.shell.text.get(inner.clone()), value.quoting)
        {
            return None;
        }
        match kind {
            HeaderKind::Credentials => self.shell.found.add(inner),
            HeaderKind::Cookies => part::cookies(self.shell.text, inner, self.shell.found),
        }
        Some(value.end)
    }

    /// Reads a flag with the name of a secret, and the next word.
    fn flag(&mut self, start: usize, end: usize, name: &[u8]) -> Option<usize> {
        let is_flag = name.starts_with(b"-") && named::is_word_start(self.shell.text, start);
        let name = named::without_dashes(name);
        if !is_flag || name.len() < 4 || name::is_switch(name) || name::is_from_input(name) {
            return None;
        }
        let secret = name::secret(name)?;
        let mut at = end;
        let closed =
            quote_at(self.shell.text, at).filter(|(closer, _)| self.shell.nesting.is_open(*closer));
        if let Some((_, after)) = closed {
            at = after;
        }
        if !is_blank(self.shell.text.at(at)) || self.shell.text.at(at) == b'\n' {
            return None;
        }
        if let Some((closer, _)) = closed {
            self.shell.close(closer);
        }
        let at = self.next_word(at);
        let value =
            self.shell.value(at, Ending::Word).filter(|_| self.shell.text.at(at) != b'-')?;
        let bytes = self.shell.text.get(value.inner.clone());
        if named::is_harmless_word(bytes, name, secret, value.quoting) {
            return None;
        }
        let source = if bytes.starts_with(b"pass:") { 5 } else { 0 };
        self.shell.found.add(value.inner.start + source..value.inner.end);
        Some(value.end)
    }

    /// Reads a word that a secret follows after a blank: `Bearer x`, `setx TOKEN x`.
    fn bare_word(&mut self, end: usize, name: &[u8]) -> Option<usize> {
        if !matches!(self.shell.text.at(end), b' ' | b'\t') {
            return None;
        }
        let at = self.shell.text.skip_blanks(end);
        if name.eq_ignore_ascii_case(b"bearer") {
            let range = named::bearer(self.shell.text, at)?;
            self.shell.found.add(range.clone());
            return Some(range.end);
        }
        let is_secret = || name::secret(name).is_some_and(|secret| secret != Secret::Pass);
        let is_secure = name.eq_ignore_ascii_case(b"ConvertTo-SecureString");
        let is_identified = name.eq_ignore_ascii_case(b"by")
            && self.shell.text.before(at) != b'\n'
            && self.is_identified();
        let is_literal = self.shell.text.at(at) == b'\''
            && !self.shell.nesting.is_open(Closer { byte: b'\'', slashes: 0 });
        let is_taken = is_secure
            || (is_literal && (is_identified || name.eq_ignore_ascii_case(b"password")))
            || (self.shell.command.takes_named() && is_secret());
        if !is_taken {
            return None;
        }
        let at = if is_secure { named::after_option(self.shell.text, at) } else { at };
        let value =
            self.shell.value(at, Ending::Word).filter(|_| self.shell.text.at(at) != b'-')?;
        if is_plain(self.shell.text.get(value.inner.clone()), value.quoting) {
            return None;
        }
        self.shell.found.add(value.inner);
        Some(value.end)
    }

    /// Returns whether the last word is that of `IDENTIFIED BY`.
    fn is_identified(&self) -> bool {
        let start = self.last_run.start;
        let before = self.shell.text.get(start.saturating_sub(11)..start);
        before.len() == 11 && before.eq_ignore_ascii_case(b"identified ")
    }
}
