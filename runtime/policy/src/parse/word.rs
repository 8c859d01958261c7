//! Words.

use smallvec::SmallVec;

use super::byte::is_meta;
use super::parser::{Bracket, Parsed, Parser};
use crate::span::Span;
use crate::syntax::{Part, Word};

impl Parser<'_> {
    /// Reads a word, if one follows.
    pub(super) fn word(&mut self) -> Parsed<Option<Word>> {
        self.burn()?;
        let start = self.at;
        let mut parts = SmallVec::new();
        let mut bare = self.at;
        loop {
            self.skip_plain();
            if self.at_end() {
                break;
            }
            let byte = self.byte();
            if self.begins_process() {
                self.flush(&mut parts, bare, Part::Bare);
                parts.push(self.process()?);
            } else if byte == b'(' && !self.is_posix && self.is_after_pattern_sign(&parts, bare) {
                // The sign belongs to the pattern.
                if bare < self.at {
                    self.at -= 1;
                    self.flush(&mut parts, bare, Part::Bare);
                    self.at += 1;
                } else {
                    parts.pop();
                }
                parts.push(self.extended_glob()?);
            } else if is_meta(byte) {
                break;
            } else if let Some(part) = self.special(&mut parts, bare, start)? {
                parts.extend(part);
            } else {
                self.at += 1;
                continue;
            }
            bare = self.at;
        }
        if self.at == start {
            return Ok(None);
        }
        self.flush(&mut parts, bare, Part::Bare);
        Ok(Some(Word { parts, span: self.span(start) }))
    }

    /// Adds the text from `from` to here as a part, unless it is empty.
    pub(super) fn flush(&self, parts: &mut impl Extend<Part>, from: usize, part: fn(Span) -> Part) {
        if from < self.at {
            parts.extend([part(self.span(from))]);
        }
    }

    /// Reads a special part of a word, after adding the text before it. The inner `None` is a
    /// continued line, which adds no part.
    fn special(
        &mut self,
        parts: &mut SmallVec<[Part; 1]>,
        bare: usize,
        start: usize,
    ) -> Parsed<Option<Option<Part>>> {
        let byte = self.byte();
        let is_special = match byte {
            b'\\' | b'\'' | b'"' | b'`' | b'$' | b'*' | b'?' => true,
            // Without a `]` it is literal, as in the name of the program `[`.
            b'[' => self.closes_bracket(),
            b'~' => self.at == start,
            _ => false,
        };
        if !is_special {
            return Ok(None);
        }
        self.flush(parts, bare, Part::Bare);
        let part = match byte {
            b'\\' => return self.escaped().map(Some),
            b'\'' => self.single_quoted()?,
            b'"' => self.double_quoted()?,
            b'`' => self.backtick(false)?,
            b'$' => self.dollar(false)?,
            b'~' => self.tilde(),
            _ => {
                self.at += 1;
                Part::Glob(Span::new(self.at - 1, self.at))
            }
        };
        Ok(Some(Some(part)))
    }

    /// Returns whether a `]` follows in this word. The result is kept, so that a word of brackets
    /// is searched once.
    fn closes_bracket(&mut self) -> bool {
        let Bracket { from, to, end, closes } = self.bracket;
        if end == self.end && (from..to).contains(&self.at) {
            return closes;
        }
        let word = self.peek_word();
        let found = word.iter().position(|byte| *byte == b']');
        let to = self.at + found.unwrap_or(word.len());
        self.bracket = Bracket { from: self.at, to, end: self.end, closes: found.is_some() };
        found.is_some()
    }

    /// Returns whether the sign before a `(` makes it a pattern such as `@(…)`.
    fn is_after_pattern_sign(&self, parts: &[Part], bare: usize) -> bool {
        if bare < self.at {
            return matches!(self.bytes.get(self.at - 1), Some(b'@' | b'!' | b'+'));
        }
        match parts.last() {
            Some(Part::Glob(span)) => {
                span.end as usize == self.at
                    && matches!(self.bytes.get(self.at - 1), Some(b'*' | b'?'))
            }
            _ => false,
        }
    }

    /// Reads `( … )` of a pattern after its sign; only its expansions are kept.
    fn extended_glob(&mut self) -> Parsed<Part> {
        let start = self.at - 1;
        let mut inside = Vec::new();
        let mut open = 0usize;
        loop {
            self.burn()?;
            match self.byte() {
                _ if self.at_end() => return self.fail("the `)` of a pattern is missing"),
                b'(' => {
                    open += 1;
                    self.at += 1;
                }
                b')' => {
                    open -= 1;
                    self.at += 1;
                    if open == 0 {
                        return Ok(Part::ExtendedGlob(inside, self.span(start)));
                    }
                }
                b'$' => inside.push(self.dollar(false)?),
                b'`' => inside.push(self.backtick(false)?),
                b'\'' => inside.push(self.single_quoted()?),
                b'"' => inside.push(self.double_quoted()?),
                b'\\' => inside.extend(self.escaped()?),
                b'<' | b'>' if self.ahead(1) == b'(' => inside.push(self.process()?),
                b'\n' | b';' | b'&' => return self.fail("an operator in a pattern"),
                _ => self.at += 1,
            }
        }
    }

    /// Returns whether `<( … )` or `>( … )` follows.
    pub(super) fn begins_process(&self) -> bool {
        !self.is_posix && matches!(self.byte(), b'<' | b'>') && self.ahead(1) == b'('
    }

    /// Reads `<( … )` or `>( … )`.
    pub(super) fn process(&mut self) -> Parsed<Part> {
        let start = self.at;
        self.at += 2;
        let list = self.substituted_list()?;
        Ok(Part::Process(list, self.span(start)))
    }

    /// Reads `~name` at the beginning of a word. It is a home only before `/` or the end of the
    /// word.
    pub(super) fn tilde(&mut self) -> Part {
        let start = self.at;
        let rest = self.slice(start + 1, self.end);
        let length = rest
            .iter()
            .position(|byte| !byte.is_ascii_alphanumeric() && !b"._+-".contains(byte))
            .unwrap_or(rest.len());
        let next = rest.get(length).copied();
        self.at += 1 + length;
        match next {
            None | Some(b'/' | b':' | b'}') => Part::Tilde(self.span(start)),
            Some(byte) if is_meta(byte) => Part::Tilde(self.span(start)),
            _ => Part::Bare(self.span(start)),
        }
    }
}
