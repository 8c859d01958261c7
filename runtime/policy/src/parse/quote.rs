//! Quotes and backslashes.

use super::parser::{Parsed, Parser};
use crate::span::Span;
use crate::syntax::Part;

/// The context of the text of a `double`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
    /// `"…"`.
    Double,
    /// The body of a here-document; with `strips_tabs`, tabs at the beginning of lines are dropped.
    HereDocument { strips_tabs: bool },
}

impl Parser<'_> {
    /// Reads a backslash and the escaped character; nothing for a continued line.
    pub(super) fn escaped(&mut self) -> Parsed<Option<Part>> {
        self.burn()?;
        if self.ahead(1) == b'\n' {
            self.at += 2;
            return Ok(None);
        }
        self.at += 1;
        if self.at_end() {
            return Ok(Some(Part::Quoted(Span::new(self.at - 1, self.at))));
        }
        let start = self.at;
        self.at += character_length(self.byte());
        self.at = self.at.min(self.end);
        Ok(Some(Part::Quoted(self.span(start))))
    }

    /// Reads `'…'`.
    pub(super) fn single_quoted(&mut self) -> Parsed<Part> {
        self.burn()?;
        let start = self.at + 1;
        let rest = self.slice(start, self.end);
        let Some(length) = rest.iter().position(|byte| *byte == b'\'') else {
            return self.fail("a `'` is not closed");
        };
        self.at = start + length + 1;
        Ok(Part::Quoted(Span::new(start, start + length)))
    }

    /// Reads `"…"`.
    pub(super) fn double_quoted(&mut self) -> Parsed<Part> {
        let start = self.at;
        self.at += 1;
        let parts = self.double(Inside::Double)?;
        Ok(Part::Double(parts, self.span(start)))
    }

    /// Reads text in which only expansions and some backslashes are special, up to the closing
    /// quote or the end of a here-document.
    pub(super) fn double(&mut self, inside: Inside) -> Parsed<Vec<Part>> {
        let mut parts = Vec::new();
        let mut text = self.at;
        loop {
            let byte = self.byte();
            if self.at_end() {
                self.flush(&mut parts, text, Part::Quoted);
                return if inside == Inside::Double {
                    self.fail("a `\"` is not closed")
                } else {
                    Ok(parts)
                };
            }
            match byte {
                b'"' if inside == Inside::Double => {
                    self.flush(&mut parts, text, Part::Quoted);
                    self.at += 1;
                    return Ok(parts);
                }
                b'\\' => {
                    self.burn()?;
                    let next = self.ahead(1);
                    let is_quote = next == b'"' && inside == Inside::Double;
                    if next == b'\n' {
                        self.flush(&mut parts, text, Part::Quoted);
                        self.at += 2;
                        text = self.at;
                    } else if is_quote || matches!(next, b'$' | b'`' | b'\\') {
                        self.flush(&mut parts, text, Part::Quoted);
                        text = self.at + 1;
                        self.at += 2;
                    } else {
                        self.at += 1;
                    }
                }
                b'$' => {
                    self.flush(&mut parts, text, Part::Quoted);
                    parts.push(self.dollar(true)?);
                    text = self.at;
                }
                b'`' => {
                    self.flush(&mut parts, text, Part::Quoted);
                    parts.push(self.backtick(true)?);
                    text = self.at;
                }
                b'\n' if inside == (Inside::HereDocument { strips_tabs: true }) => {
                    self.at += 1;
                    self.flush(&mut parts, text, Part::Quoted);
                    while self.byte() == b'\t' {
                        self.at += 1;
                    }
                    text = self.at;
                }
                _ => self.at += 1,
            }
        }
    }

    /// Reads `$'…'`.
    pub(super) fn ansi_quoted(&mut self) -> Parsed<Part> {
        let start = self.at;
        self.at += 2;
        let from = self.at;
        // Bash finds the end before it decodes: until then a backslash only escapes the quote after
        // it.
        while self.byte() != b'\'' {
            self.burn()?;
            self.at += if self.byte() == b'\\' { 2 } else { 1 };
            if self.at_end() {
                self.at = self.end;
                return self.fail("a `$'` is not closed");
            }
        }
        let mut text = ansi_decoded(self.slice(from, self.at));
        self.at += 1;
        // Bash ends such a string at a NUL.
        if let Some(nul) = text.iter().position(|byte| *byte == 0) {
            text.truncate(nul);
        }
        Ok(Part::Decoded(text.into_boxed_slice(), self.span(start)))
    }
}

/// Decodes the content of `$'…'`.
fn ansi_decoded(written: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut rest = written;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'\\' => ansi_escape(&mut rest, &mut text),
            byte => text.push(*byte),
        }
    }
    text
}

/// Decodes the escape after a backslash.
fn ansi_escape(rest: &mut &[u8], text: &mut Vec<u8>) {
    let Some((byte, after)) = rest.split_first() else {
        text.push(b'\\');
        return;
    };
    let before = std::mem::replace(rest, after);
    match byte {
        b'n' => text.push(b'\n'),
        b't' => text.push(b'\t'),
        b'r' => text.push(b'\r'),
        b'a' => text.push(7),
        b'b' => text.push(8),
        b'e' | b'E' => text.push(27),
        b'f' => text.push(12),
        b'v' => text.push(11),
        b'c' => match rest.split_first() {
            None => text.extend(b"\\c"),
            Some((control, after)) => {
                text.push(if *control == b'?' { 0x7f } else { control & 0x1f });
                *rest = after;
                if *control == b'\\' {
                    *rest = rest.strip_prefix(b"\\").unwrap_or(rest);
                }
            }
        },
        b'x' if rest.starts_with(b"{") => {
            *rest = after.get(1..).unwrap_or(&[]);
            text.push(low_byte(digits(rest, 16, usize::MAX).unwrap_or(0)));
            *rest = rest.strip_prefix(b"}").unwrap_or(rest);
        }
        b'x' | b'u' | b'U' => {
            let most = match byte {
                b'x' => 2,
                b'u' => 4,
                _ => 8,
            };
            match digits(rest, 16, most) {
                None => text.extend([b'\\', *byte]),
                Some(value) if *byte == b'x' => text.push(low_byte(value)),
                Some(value) => {
                    let character = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
                    text.extend(character.encode_utf8(&mut [0; 4]).bytes());
                }
            }
        }
        b'0'..=b'7' => {
            *rest = before;
            text.push(low_byte(digits(rest, 8, 3).unwrap_or(0)));
        }
        b'\\' | b'\'' | b'"' | b'?' => text.push(*byte),
        other => text.extend([b'\\', *other]),
    }
}

/// Reads at most this many digits, if there are any.
fn digits(rest: &mut &[u8], base: u32, at_most: usize) -> Option<u32> {
    let mut value = None;
    for _ in 0..at_most {
        let Some((first, after)) = rest.split_first() else { break };
        let Some(digit) = char::from(*first).to_digit(base) else { break };
        value = Some(value.unwrap_or(0u32).wrapping_mul(base).wrapping_add(digit));
        *rest = after;
    }
    value
}

/// Returns the lowest eight bits.
const fn low_byte(value: u32) -> u8 {
    value.to_le_bytes()[0]
}

/// Returns the length of a character with this first byte.
const fn character_length(first: u8) -> usize {
    match first {
        0..0x80 => 1,
        0x80..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    }
}
