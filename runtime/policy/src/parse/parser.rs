//! The state of the parser: its position, and its remaining budget.

use thiserror::Error;

use super::byte::{is_meta, is_name_byte, is_plain};
use crate::span::Span;
use crate::syntax::{HereDocument, Script, Word};

/// The longest accepted text, in bytes.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;

/// The deepest nesting of commands, expansions and nested texts together.
pub const DEPTH_MAX: u32 = 48;

/// The steps allowed for each byte of a text, and the minimum for any text.
///
/// Reading takes fewer than two steps a byte. The rest is for commands, and for `((`, which is read
/// again if it turns out to be two parentheses.
const FUEL_PER_BYTE: usize = 12;
const FUEL_MIN: usize = 64 * 1024;
/// The additional fuel of a command: a text of 64 KiB may have some 10,000 commands, a short one
/// 1,000.
pub(super) const COMMAND_FUEL: usize = 64;

/// The reason for refusing a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct ParseError {
    /// The byte at which reading ended.
    pub at: u32,
    /// The unexpected or missing token.
    pub reason: &'static str,
}

/// The result of a step.
pub(super) type Parsed<T> = Result<T, ParseError>;

/// The remaining fuel for reading a text, shared with nested texts.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    pub(super) depth: u32,
    pub(super) fuel: usize,
}

impl Budget {
    /// Returns the budget of a text with this many bytes.
    #[must_use]
    pub const fn new(bytes: usize) -> Self {
        Self { depth: 0, fuel: FUEL_MIN + bytes * FUEL_PER_BYTE }
    }
}

/// A here-document whose body begins after the next newline.
pub(super) struct Pending {
    pub(super) index: usize,
    pub(super) delimiter: Vec<u8>,
    pub(super) literal: bool,
    pub(super) strips_tabs: bool,
}

/// The last search for a `]`: the bytes searched, in a text up to `end`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bracket {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) end: usize,
    pub(super) closes: bool,
}

/// A text that is being read.
pub(super) struct Parser<'t> {
    pub(super) bytes: &'t [u8],
    pub(super) at: usize,
    /// The end of the text, or of the current here-document.
    pub(super) end: usize,
    pub(super) budget: Budget,
    pub(super) pending: Vec<Pending>,
    pub(super) here_documents: Vec<HereDocument>,
    pub(super) in_here_document: bool,
    /// Whether it is inside `$( … )`, `<( … )` or `>( … )`.
    pub(super) in_substitution: bool,
    /// The number of here-documents, comments and `case`s so far: bash finds the end of `((`
    /// without them.
    pub(super) unbalanced: usize,
    pub(super) bracket: Bracket,
    /// Whether extensions of bash are read as other shells read them.
    pub(super) is_posix: bool,
}

impl<'t> Parser<'t> {
    /// Parses a text within the rest of a budget.
    pub(super) fn script(text: &'t str, budget: &mut Budget, is_posix: bool) -> Parsed<Script> {
        let mut parser = Self::new(text, *budget)?;
        parser.is_posix = is_posix;
        let body = parser.list(&[]);
        budget.fuel = parser.budget.fuel;
        let body = body?;
        if parser.at < parser.end {
            return parser.fail("an unexpected token");
        }
        parser.read_here_documents()?;
        Ok(Script { body, here_documents: parser.here_documents })
    }

    pub(super) fn new(text: &'t str, budget: Budget) -> Parsed<Self> {
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
            in_substitution: false,
            unbalanced: 0,
            bracket: Bracket::default(),
            is_posix: false,
        })
    }

    /// Parses a text as a shell without the extensions of bash does, which runs each line before it
    /// reads the next one. Returns the lines up to the first error, and that error.
    pub(super) fn lines(
        text: &'t str,
        budget: &mut Budget,
    ) -> Parsed<(Script, Option<ParseError>)> {
        let mut parser = Self::new(text, *budget)?;
        parser.is_posix = true;
        let mut body = Vec::new();
        let mut whole = 0;
        let error = loop {
            match parser.next_item() {
                Ok(Some(item)) => body.push(item),
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
            if parser.is_line_start() {
                whole = body.len();
            }
        };
        budget.fuel = parser.budget.fuel;
        if error.is_some() {
            body.truncate(whole);
        }
        Ok((Script { body, here_documents: parser.here_documents }, error))
    }

    /// Returns the next byte; 0 at the end, since texts never hold a NUL.
    pub(super) fn byte(&self) -> u8 {
        self.ahead(0)
    }

    /// Returns the byte after this many others; 0 past the end.
    pub(super) fn ahead(&self, count: usize) -> u8 {
        let at = self.at + count;
        if at < self.end { self.bytes.get(at).copied().unwrap_or(0) } else { 0 }
    }

    pub(super) fn at_end(&self) -> bool {
        self.at >= self.end
    }

    pub(super) fn follows(&self, text: &str) -> bool {
        self.bytes.get(self.at..self.end).is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'t [u8] {
        self.bytes.get(start..end).unwrap_or(&[])
    }

    pub(super) fn span(&self, start: usize) -> Span {
        Span::new(start, self.at)
    }

    pub(super) fn fail<T>(&self, reason: &'static str) -> Parsed<T> {
        Err(ParseError { at: Span::new(self.at, self.at).start, reason })
    }

    /// Spends one step.
    pub(super) fn burn(&mut self) -> Parsed<()> {
        self.burn_many(1)
    }

    /// Spends steps.
    pub(super) fn burn_many(&mut self, steps: usize) -> Parsed<()> {
        match self.budget.fuel.checked_sub(steps) {
            Some(left) => {
                self.budget.fuel = left;
                Ok(())
            }
            None => self.fail("the text is too complex"),
        }
    }

    /// Runs `read` one level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.budget.depth >= DEPTH_MAX {
            return self.fail("the text is nested too deep");
        }
        self.budget.depth += 1;
        let result = read(self);
        self.budget.depth -= 1;
        result
    }

    /// Skips blanks, continued lines and a comment.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.byte() {
                b' ' | b'\t' => self.at += 1,
                b'\\' if self.ahead(1) == b'\n' => self.at += 2,
                b'#' if self.is_word_start() => {
                    self.unbalanced += 1;
                    while !self.at_end() && self.byte() != b'\n' {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// Returns whether the next byte is at the start of a word.
    pub(super) fn is_word_start(&self) -> bool {
        match self.at.checked_sub(1).and_then(|before| self.bytes.get(before)) {
            Some(before) => is_meta(*before),
            None => true,
        }
    }

    /// Skips a newline, and reads the here-documents that begin after it.
    pub(super) fn newline(&mut self) -> Parsed<()> {
        self.at += 1;
        self.read_here_documents()
    }

    pub(super) fn skip_newlines(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks();
            if self.byte() != b'\n' {
                return Ok(());
            }
            self.burn()?;
            self.newline()?;
        }
    }

    /// Skips text that is nothing else wherever in a word it is.
    pub(super) fn skip_plain(&mut self) {
        let rest = self.slice(self.at, self.end);
        self.at += rest.iter().take_while(|byte| is_plain(**byte)).count();
    }

    /// Returns the bytes up to the next blank or operator.
    pub(super) fn peek_word(&self) -> &'t [u8] {
        let rest = self.slice(self.at, self.end);
        let length = rest.iter().position(|byte| is_meta(*byte)).unwrap_or(rest.len());
        rest.get(..length).unwrap_or(rest)
    }

    /// Returns the next word, for comparison with keywords.
    ///
    /// Bash removes a backslash before a newline earlier than it looks for keywords; a keyword
    /// split that way is refused.
    pub(super) fn peek_keyword(&self) -> Parsed<&'t [u8]> {
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

    /// Reads a required keyword.
    pub(super) fn keyword(&mut self, keyword: &[u8]) -> Parsed<()> {
        self.skip_newlines()?;
        if self.peek_keyword()? == keyword {
            self.at += keyword.len();
            return Ok(());
        }
        self.fail("a keyword is missing")
    }

    pub(super) fn word_or(&mut self, missing: &'static str) -> Parsed<Word> {
        match self.word()? {
            Some(word) => Ok(word),
            None => self.fail(missing),
        }
    }
}

/// The reserved words at the start of a command.
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

/// The length of `function`.
const LONGEST_KEYWORD: usize = 8;

/// Returns whether this is the name of a variable.
pub(super) fn is_name(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| !first.is_ascii_digit())
        && bytes.iter().all(|byte| is_name_byte(*byte))
}
