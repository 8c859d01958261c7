//! Reads bash 5.2.
//!
//! The parser refuses rather than recovers: a text that it does not understand is an error, since
//! whoever classifies it must not guess. Where bash would read a text in a way that this parser does
//! not follow (an operator split over lines, quotes inside a pattern of an expansion), it refuses too.
//! It may accept what bash refuses; then nothing runs and the answer is only too careful.
//!
//! Work and memory are linear in the text: each step burns fuel, and nesting has a limit.

use thiserror::Error;

use crate::span::Span;
use crate::syntax::{HereDocument, Part, Script, Word};

mod command;
mod compound;
mod dollar;
mod list;
mod parameter;
mod quote;
mod redirect;
mod word;

/// The longest text that is read, in bytes.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;

/// How deep commands, expansions and nested texts may be nested together.
pub const DEPTH_MAX: u32 = 48;

/// The steps that a text may take for each of its bytes, and in any case.
///
/// Reading takes fewer than two steps a byte. The rest is for `((`, which is read again where it turns
/// out to be no arithmetic.
const FUEL_PER_BYTE: usize = 12;
const FUEL_MIN: usize = 2048;

/// Why a text is not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct ParseError {
    /// The byte at which reading ended.
    pub at: u32,
    /// What was found or missing.
    pub reason: &'static str,
}

/// The result of a step.
type Parsed<T> = Result<T, ParseError>;

/// What reading a text has left to spend. Nested texts spend from the same.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    depth: u32,
    fuel: usize,
}

impl Budget {
    /// Returns the budget of a text with this many bytes.
    #[must_use]
    pub const fn new(bytes: usize) -> Self {
        Self { depth: 0, fuel: FUEL_MIN + bytes * FUEL_PER_BYTE }
    }
}

/// Parses a text.
///
/// # Errors
///
/// The text is too long, holds a NUL, is nested too deep, or is not understood.
pub fn parse(text: &str) -> Result<Script, ParseError> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(ParseError { at: 0, reason: "the text is longer than 64 KiB" });
    }
    parse_within(text, &mut Budget::new(text.len()))
}

/// Parses a text that is part of another one, within what is left of its budget.
///
/// # Errors
///
/// As `parse`.
pub fn parse_within(text: &str, budget: &mut Budget) -> Result<Script, ParseError> {
    let mut parser = Parser::new(text, *budget)?;
    let body = parser.list(&[]);
    budget.fuel = parser.budget.fuel;
    let body = body?;
    if parser.at < parser.end {
        return parser.fail("an unexpected token");
    }
    parser.read_here_documents()?;
    Ok(Script { body, here_documents: parser.here_documents })
}

/// Parses a text in which only expansions mean something, as the shell reads a value that it evaluates.
/// Returns its parts, and the here-documents in them.
///
/// # Errors
///
/// As `parse`.
pub fn expansions(
    text: &str,
    budget: &mut Budget,
) -> Result<(Vec<Part>, Vec<HereDocument>), ParseError> {
    let mut parser = Parser::new(text, *budget)?;
    let parts = parser.double(quote::Inside::HereDocument { strips_tabs: false });
    budget.fuel = parser.budget.fuel;
    let parts = parts?;
    parser.read_here_documents()?;
    Ok((parts, parser.here_documents))
}

/// A here-document whose body follows at the next newline.
struct Pending {
    index: usize,
    delimiter: Vec<u8>,
    literal: bool,
    strips_tabs: bool,
}

struct Parser<'t> {
    bytes: &'t [u8],
    at: usize,
    /// The end of the text, or of the here-document that is being read.
    end: usize,
    budget: Budget,
    pending: Vec<Pending>,
    here_documents: Vec<HereDocument>,
    in_here_document: bool,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, budget: Budget) -> Parsed<Self> {
        if let Some(at) = text.bytes().position(|byte| byte == 0) {
            return Err(ParseError { at: Span::new(at, at).start, reason: "a NUL byte" });
        }
        Ok(Self {
            bytes: text.as_bytes(),
            at: 0,
            end: text.len(),
            budget,
            pending: Vec::new(),
            here_documents: Vec::new(),
            in_here_document: false,
        })
    }

    /// Returns the next byte; 0 at the end, since a text holds no NUL.
    fn byte(&self) -> u8 {
        self.ahead(0)
    }

    /// Returns the byte after this many others; 0 past the end.
    fn ahead(&self, count: usize) -> u8 {
        let at = self.at + count;
        if at < self.end { self.bytes.get(at).copied().unwrap_or(0) } else { 0 }
    }

    fn at_end(&self) -> bool {
        self.at >= self.end
    }

    fn follows(&self, text: &str) -> bool {
        self.bytes.get(self.at..self.end).is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    fn slice(&self, start: usize, end: usize) -> &'t [u8] {
        self.bytes.get(start..end).unwrap_or(&[])
    }

    fn span(&self, start: usize) -> Span {
        Span::new(start, self.at)
    }

    fn fail<T>(&self, reason: &'static str) -> Parsed<T> {
        Err(ParseError { at: Span::new(self.at, self.at).start, reason })
    }

    /// Spends one step.
    fn burn(&mut self) -> Parsed<()> {
        match self.budget.fuel.checked_sub(1) {
            Some(left) => {
                self.budget.fuel = left;
                Ok(())
            }
            None => self.fail("the text is too complex"),
        }
    }

    /// Runs `read` one level deeper.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.budget.depth >= DEPTH_MAX {
            return self.fail("the text is nested too deep");
        }
        self.budget.depth += 1;
        let result = read(self);
        self.budget.depth -= 1;
        result
    }

    /// Skips blanks, continued lines and a comment.
    fn skip_blanks(&mut self) {
        loop {
            match self.byte() {
                b' ' | b'\t' => self.at += 1,
                b'\\' if self.ahead(1) == b'\n' => self.at += 2,
                b'#' if self.is_word_start() => {
                    while !self.at_end() && self.byte() != b'\n' {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// Returns whether nothing of a word is directly before the next byte.
    fn is_word_start(&self) -> bool {
        match self.at.checked_sub(1).and_then(|before| self.bytes.get(before)) {
            Some(before) => is_meta(*before),
            None => true,
        }
    }

    /// Skips a newline, and reads the here-documents that begin after it.
    fn newline(&mut self) -> Parsed<()> {
        self.at += 1;
        self.read_here_documents()
    }

    fn skip_newlines(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks();
            if self.byte() != b'\n' {
                return Ok(());
            }
            self.burn()?;
            self.newline()?;
        }
    }

    /// Returns the bytes up to the next blank or operator.
    fn peek_word(&self) -> &'t [u8] {
        let rest = self.slice(self.at, self.end);
        let length = rest.iter().position(|byte| is_meta(*byte)).unwrap_or(rest.len());
        rest.get(..length).unwrap_or(rest)
    }

    /// Returns the word that follows, to be compared with keywords.
    ///
    /// Bash removes a backslash before a newline earlier than it looks for keywords; a keyword that is
    /// split so is refused.
    fn peek_keyword(&self) -> Parsed<&'t [u8]> {
        let word = self.peek_word();
        let mut end = self.at + word.len();
        if !word.ends_with(b"\\") || self.ahead(word.len()) != b'\n' {
            return Ok(word);
        }
        let mut joined = word.to_vec();
        while joined.len() <= LONGEST_KEYWORD && joined.ends_with(b"\\") {
            joined.pop();
            let rest = self.slice(end + 1, self.end);
            let length = rest.iter().position(|byte| is_meta(*byte)).unwrap_or(rest.len());
            joined.extend(rest.get(..length).unwrap_or(rest));
            end += 1 + length;
        }
        if KEYWORDS.contains(&joined.as_slice()) {
            return self.fail("a keyword that is split over two lines");
        }
        Ok(word)
    }

    /// Reads a keyword that must follow.
    fn keyword(&mut self, keyword: &[u8]) -> Parsed<()> {
        self.skip_newlines()?;
        if self.peek_keyword()? == keyword {
            self.at += keyword.len();
            return Ok(());
        }
        self.fail("a keyword is missing")
    }

    fn word_or(&mut self, missing: &'static str) -> Parsed<Word> {
        match self.word()? {
            Some(word) => Ok(word),
            None => self.fail(missing),
        }
    }
}

/// The words that mean something where a command begins.
const KEYWORDS: &[&[u8]] = &[
    b"!",
    b"[[",
    b"]]",
    b"case",
    b"coproc",
    b"do",
    b"done",
    b"elif",
    b"else",
    b"esac",
    b"fi",
    b"for",
    b"function",
    b"if",
    b"in",
    b"select",
    b"then",
    b"time",
    b"until",
    b"while",
    b"{",
    b"}",
];

/// The bytes of `function`.
const LONGEST_KEYWORD: usize = 8;

/// Returns whether a byte ends a word.
const fn is_meta(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}

/// Returns whether a byte may be in the name of a variable.
const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns whether this is the name of a variable.
fn is_name(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| !first.is_ascii_digit())
        && bytes.iter().all(|byte| is_name_byte(*byte))
}
