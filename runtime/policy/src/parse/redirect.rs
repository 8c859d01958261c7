//! Redirections and here-documents.

use super::byte::is_name_byte;
use super::parser::{Parsed, Parser, Pending};
use crate::span::Span;
use crate::syntax::{HereDocument, Part, Redirect, RedirectKind, Word};

use super::quote::Inside;

/// The operators, longer ones first.
const OPERATORS: &[(&str, RedirectKind)] = &[
    ("&>>", RedirectKind::Append),
    ("&>", RedirectKind::Write),
    ("<<<", RedirectKind::HereString),
    ("<<-", RedirectKind::HereDocument(0)),
    ("<<", RedirectKind::HereDocument(0)),
    ("<&", RedirectKind::Duplicate),
    ("<>", RedirectKind::ReadWrite),
    (">>", RedirectKind::Append),
    (">&", RedirectKind::Duplicate),
    (">|", RedirectKind::Write),
    ("<", RedirectKind::Read),
    (">", RedirectKind::Write),
];

impl<'t> Parser<'t> {
    /// Reads a redirection, if one follows.
    #[inline]
    pub(super) fn redirect(&mut self) -> Parsed<Option<Redirect>> {
        // Few words begin like an operator or a descriptor.
        match self.byte() {
            b'&' | b'<' | b'>' | b'{' | b'0'..=b'9' => self.redirect_or_word(),
            _ => Ok(None),
        }
    }

    fn redirect_or_word(&mut self) -> Parsed<Option<Redirect>> {
        let start = self.at;
        let descriptor = self.descriptor();
        if !matches!(self.byte(), b'&' | b'<' | b'>') {
            self.at = start;
            return Ok(None);
        }
        let is_process = self.begins_process();
        let is_read = |sign: &str| !self.is_posix || !matches!(sign, "&>>" | "&>" | "<<<");
        let operator = OPERATORS.iter().find(|(sign, _)| is_read(sign) && self.follows(sign));
        let Some((sign, kind)) = operator
            .filter(|(sign, _)| !is_process && (!sign.starts_with('&') || self.at == start))
        else {
            self.at = start;
            return Ok(None);
        };
        self.burn()?;
        self.at += sign.len();
        self.skip_blanks();
        let target = self.word_or("the target of a redirection is missing")?;
        let kind = match kind {
            RedirectKind::HereDocument(_) => self.here_document(&target, *sign == "<<-")?,
            other => *other,
        };
        Ok(Some(Redirect { kind, target, descriptor, span: self.span(start) }))
    }

    /// Skips `2` or `{name}` before an operator.
    fn descriptor(&mut self) -> Option<u32> {
        let start = self.at;
        while self.byte().is_ascii_digit() {
            self.at += 1;
        }
        if self.at > start {
            let digits = self.slice(start, self.at);
            let number = str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
            return Some(number.unwrap_or(u32::MAX));
        }
        if self.byte() == b'{' {
            let mut length = 1;
            while is_name_byte(self.ahead(length)) {
                length += 1;
            }
            if self.ahead(length) == b'}' && matches!(self.ahead(length + 1), b'<' | b'>') {
                self.at += length + 1;
                return Some(u32::MAX);
            }
        }
        None
    }

    /// Remembers a here-document, whose body begins after the next newline.
    fn here_document(&mut self, target: &Word, strips_tabs: bool) -> Parsed<RedirectKind> {
        let written = self.slice(target.span.start as usize, target.span.end as usize);
        let mut delimiter = Vec::new();
        let mut literal = false;
        let mut quote = None;
        let mut bytes = written.iter().copied().peekable();
        while let Some(byte) = bytes.next() {
            match (quote, byte) {
                (None, b'\'' | b'"') => {
                    quote = Some(byte);
                    literal = true;
                }
                (Some(open), _) if open == byte => quote = None,
                (None, b'$') if matches!(bytes.peek(), Some(b'(' | b'{' | b'[' | b'\'' | b'"')) => {
                    return self.fail("the end of a here-document is an expansion");
                }
                (None, b'`' | b'<' | b'>') => {
                    return self.fail("the end of a here-document is an expansion");
                }
                (_, b'\n') => return self.fail("the end of a here-document has several lines"),
                (None, b'\\') => {
                    literal = true;
                    match bytes.next() {
                        Some(b'\n') => return self.fail("the end of a here-document is continued"),
                        next => delimiter.extend(next),
                    }
                }
                (Some(b'"'), b'\\') => return self.fail("a `\\` in the end of a here-document"),
                _ => delimiter.push(byte),
            }
        }
        self.unbalanced += 1;
        let index = self.here_documents.len();
        self.here_documents.push(HereDocument::default());
        self.pending.push(Pending { index, delimiter, literal, strips_tabs });
        Ok(RedirectKind::HereDocument(index))
    }

    /// Reads the bodies of the here-documents that begin here.
    pub(super) fn read_here_documents(&mut self) -> Parsed<()> {
        let mut is_ended = false;
        for pending in std::mem::take(&mut self.pending) {
            let start = self.at.min(self.end);
            if is_ended {
                return self.fail("a here-document after one that ends before a `)`");
            }
            let body_end = self.skip_body(&pending)?;
            is_ended = self.byte() == b')' && !self.is_line_start();
            let after = self.at;
            let span = Span::new(start, body_end);
            let parts = if pending.literal {
                self.literal_lines(start, body_end, pending.strips_tabs)
            } else {
                self.expanding_body(start, body_end, pending.strips_tabs)?
            };
            self.at = after;
            if let Some(document) = self.here_documents.get_mut(pending.index) {
                *document = HereDocument { parts, span };
            }
        }
        Ok(())
    }

    /// Skips the lines up to the delimiter and the delimiter; returns where the body ends.
    fn skip_body(&mut self, pending: &Pending) -> Parsed<usize> {
        while !self.at_end() {
            self.burn()?;
            let line_start = self.at;
            let mut line = self.line();
            let mut continued = false;
            let mut joined = Vec::new();
            // Bash joins continued lines before it looks for the delimiter.
            while !pending.literal && ends_with_backslash(line) && !self.at_end() {
                self.burn()?;
                continued = true;
                joined.extend(line.get(..line.len() - 1).unwrap_or(line));
                line = self.line();
            }
            let whole = if continued {
                joined.extend(line);
                joined.as_slice()
            } else {
                line
            };
            let tabs = match pending.strips_tabs {
                true => whole.iter().take_while(|byte| **byte == b'\t').count(),
                false => 0,
            };
            let Some(rest) =
                whole.get(tabs..).and_then(|line| line.strip_prefix(&*pending.delimiter))
            else {
                continue;
            };
            // In a substitution bash also ends a body at a line that begins with the delimiter and
            // holds a `)`, and reads on after the delimiter.
            if self.in_substitution && rest.contains(&b')') {
                if continued || pending.delimiter.is_empty() || !rest.starts_with(b")") {
                    return self.fail("a `)` after the end of a here-document in a substitution");
                }
                self.at = line_start + tabs + pending.delimiter.len();
                return Ok(line_start);
            }
            if rest.is_empty() {
                return match continued {
                    true => self.fail("the end of a here-document is a continued line"),
                    false => Ok(line_start),
                };
            }
        }
        Ok(self.end)
    }

    /// Returns whether a line begins here.
    pub(super) fn is_line_start(&self) -> bool {
        self.at.checked_sub(1).and_then(|before| self.bytes.get(before)) == Some(&b'\n')
    }

    /// Reads to the end of the line and past it.
    fn line(&mut self) -> &'t [u8] {
        let rest = self.slice(self.at, self.end);
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        self.at = (self.at + length + 1).min(self.end);
        rest.get(..length).unwrap_or(rest)
    }

    fn literal_lines(&self, start: usize, end: usize, strips_tabs: bool) -> Vec<Part> {
        if !strips_tabs {
            return vec![Part::Quoted(Span::new(start, end))];
        }
        let mut parts = Vec::new();
        let mut at = start;
        for line in self.slice(start, end).split_inclusive(|byte| *byte == b'\n') {
            let tabs = line.iter().take_while(|byte| **byte == b'\t').count();
            parts.push(Part::Quoted(Span::new(at + tabs, at + line.len())));
            at += line.len();
        }
        parts
    }

    fn expanding_body(&mut self, start: usize, end: usize, strips_tabs: bool) -> Parsed<Vec<Part>> {
        let outer = (self.end, self.in_here_document);
        (self.at, self.end, self.in_here_document) = (start, end, true);
        if strips_tabs {
            while self.byte() == b'\t' {
                self.at += 1;
            }
        }
        let parts = self.nested(|parser| parser.double(Inside::HereDocument { strips_tabs }));
        (self.end, self.in_here_document) = outer;
        parts
    }
}

/// Returns whether a line ends with an unescaped backslash.
fn ends_with_backslash(line: &[u8]) -> bool {
    line.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}
