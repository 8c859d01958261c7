//! The way from the bytes of a text to those of the KDL string that it was written as.

use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;

/// The quotes of a string of several lines.
const QUOTES: &str = "\"\"\"";

/// The parts of a text that its string has in one piece, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offsets(Vec<Part>);

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    /// Its first byte in the text.
    text: u32,
    /// Its first byte in the string.
    written: u32,
    /// The bytes of the escape that stands for it; 0 if it is written as it is.
    escape: u32,
}

impl Offsets {
    /// Returns the offsets of a text in a string of KDL, quotes included (KDL 2, 3.11 to 3.13); `None` if the string is no form
    /// of this text, or one that has no place for each of its characters.
    pub(super) fn new(written: &str, text: &str) -> Option<Self> {
        let hashes = written.bytes().take_while(|byte| *byte == b'#').count();
        let quoted = written.get(hashes..written.len().checked_sub(hashes)?)?;
        let (inner, is_block) = match quoted.strip_prefix(QUOTES).filter(|_| quoted.len() >= 6) {
            Some(rest) => (rest.strip_suffix(QUOTES)?, true),
            None => (quoted.strip_prefix('"')?.strip_suffix('"')?, false),
        };
        let begin = hashes + if is_block { QUOTES.len() } else { 1 };
        let mut read = Reader { text, read: 0, parts: Vec::new(), is_raw: hashes > 0 };
        if is_block {
            let (first, lines) = inner.split_once('\n')?;
            let (lines, indent) = lines.rsplit_once('\n').unwrap_or(("", lines));
            let mut at = begin + first.len() + 1;
            for (number, line) in lines.split('\n').enumerate() {
                if number > 0 {
                    read.take('\n', at - 1, 0)?;
                }
                if !line.trim().is_empty() {
                    let kept = line.strip_suffix('\r').unwrap_or(line).strip_prefix(indent)?;
                    read.line(kept, at + indent.len())?;
                }
                at += line.len() + 1;
            }
        } else {
            read.line(inner, begin)?;
        }
        (read.read == text.len()).then_some(Self(read.parts))
    }

    /// Returns the range of the string that a range of the text was written as. The range must not be empty.
    pub(super) fn written(&self, range: &Range<usize>) -> Range<usize> {
        let part = |place: usize| {
            let next = self.0.partition_point(|part| part.text as usize <= place);
            next.checked_sub(1).and_then(|last| self.0.get(last)).copied()
        };
        let of = |part: Part, place: usize| part.written as usize + (place - part.text as usize);
        let last = range.end.saturating_sub(1);
        let start = part(range.start).map_or(0, |part| of(part, range.start));
        let end = part(last).map_or(0, |part| match part.escape {
            0 => of(part, last) + 1,
            bytes => (part.written + bytes) as usize,
        });
        start..end
    }
}

/// Reads a string while it compares it with its text.
struct Reader<'t> {
    text: &'t str,
    /// Bytes of the text that were read.
    read: usize,
    parts: Vec<Part>,
    is_raw: bool,
}

impl Reader<'_> {
    /// Reads a line, or a whole string of one line.
    fn line(&mut self, line: &str, begin: usize) -> Option<()> {
        let mut letters = line.char_indices().peekable();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' if !self.is_raw => {
                    if let Some(meant) = escape(&mut letters)? {
                        let end = letters.peek().map_or(line.len(), |(next, _)| *next);
                        self.take(meant, begin + at, end - at)?;
                    }
                }
                _ => self.take(letter, begin + at, 0)?,
            }
        }
        Some(())
    }

    /// Compares a character, or the one that an escape of so many bytes stands for, with the next one of the text.
    fn take(&mut self, letter: char, written: usize, escape: usize) -> Option<()> {
        if !self.text.get(self.read..)?.starts_with(letter) {
            return None;
        }
        let follows = |part: &Part| {
            part.escape == 0
                && escape == 0
                && self.read.checked_sub(part.text as usize)
                    == written.checked_sub(part.written as usize)
        };
        if !self.parts.last().is_some_and(follows) {
            let short = |number: usize| u32::try_from(number).ok();
            let part =
                Part { text: short(self.read)?, written: short(written)?, escape: short(escape)? };
            self.parts.push(part);
        }
        self.read += letter.len_utf8();
        Some(())
    }
}

/// Reads an escape after its `\`: `Some(None)` if it stands for nothing, `None` if it is malformed.
fn escape(letters: &mut Peekable<CharIndices<'_>>) -> Option<Option<char>> {
    let (_, letter) = letters.next()?;
    Some(Some(match letter {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'b' => '\u{8}',
        'f' => '\u{c}',
        's' => ' ',
        '"' | '\\' => letter,
        'u' => {
            let mut digits =
                letters.by_ref().skip_while(|(_, letter)| *letter == '{').map(|(_, letter)| letter);
            let digits: String = digits.by_ref().take_while(|letter| *letter != '}').collect();
            char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
        }
        _ if letter.is_whitespace() => {
            while letters.next_if(|(_, letter)| letter.is_whitespace()).is_some() {}
            return Some(None);
        }
        _ => return None,
    }))
}
