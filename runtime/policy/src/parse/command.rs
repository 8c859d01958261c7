//! Simple commands, assignments, functions and coprocesses.

use smallvec::{SmallVec, smallvec};

use super::byte::{is_meta, is_name_byte};
use super::list::is_closing;
use super::parser::{COMMAND_FUEL, Parsed, Parser, is_name};
use crate::span::Span;
use crate::syntax::{Assignment, Command, Kind, Part, Simple, Value, Word};

/// Keywords that bash reads as a command after `coproc`, rather than as its name.
const COMPOUND: &[&[u8]] = &[
    b"if",
    b"while",
    b"until",
    b"for",
    b"case",
    b"select",
    b"[[",
    b"{",
    b"function",
    b"time",
    b"!",
];

impl Parser<'_> {
    pub(super) fn command(&mut self) -> Parsed<Command> {
        self.burn_many(COMMAND_FUEL)?;
        self.skip_blanks();
        let start = self.at;
        let word = self.peek_keyword()?;
        match word {
            b"function" if !self.is_posix => return self.function(start),
            b"coproc" if !self.is_posix => return self.coprocess(start),
            b"time" | b"!" => return self.fail("a keyword out of place"),
            _ if is_closing(word) => return self.fail("a keyword out of place"),
            _ => {}
        }
        if let Some(kind) = self.compound_of(word)? {
            return self.with_redirects(kind, start);
        }
        self.simple(start)
    }

    /// Reads the redirections that follow a compound command.
    fn with_redirects(&mut self, kind: Kind, start: usize) -> Parsed<Command> {
        let mut redirects = Vec::new();
        loop {
            let end = self.at;
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(Command { kind, redirects, span: Span::new(start, end) }),
            }
        }
    }

    fn simple(&mut self, start: usize) -> Parsed<Command> {
        // Most commands have fewer.
        let mut words = SmallVec::<[Word; 8]>::new();
        let mut assignments = Vec::new();
        let mut redirects = Vec::new();
        let mut end;
        loop {
            self.burn()?;
            end = self.at;
            self.skip_blanks();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            if words.is_empty()
                && let Some(assignment) = self.assignment()?
            {
                // Most commands that have one have one, of which `push` would make room for four.
                if assignments.is_empty() {
                    assignments.reserve_exact(1);
                }
                assignments.push(assignment);
                continue;
            }
            if !self.is_posix
                && self.declares(&words)
                && let Some(word) = self.declared_array()?
            {
                words.push(word);
                continue;
            }
            let Some(word) = self.word()? else { break };
            words.push(word);
            let is_first = words.len() == 1 && assignments.is_empty();
            if is_first && redirects.is_empty() && self.skip_parentheses()? {
                let name = words.first().map(|word| word.span).unwrap_or_default();
                return self.function_body(name, start);
            }
        }
        if words.is_empty() && assignments.is_empty() && redirects.is_empty() {
            return self.fail("a command is missing");
        }
        // Of their exact size: with room for eight words and four assignments each, the commands of 64 KiB took 10 MB.
        let mut simple = Simple { assignments, words: Vec::with_capacity(words.len()) };
        simple.words.extend(words.drain(..));
        Ok(Command { kind: Kind::Simple(simple), redirects, span: Span::new(start, end) })
    }

    /// Skips the `()` of a function's definition, if it follows.
    fn skip_parentheses(&mut self) -> Parsed<bool> {
        let before = self.at;
        self.skip_blanks();
        if self.byte() != b'(' {
            self.at = before;
            return Ok(false);
        }
        self.at += 1;
        self.skip_blanks();
        if self.byte() != b')' {
            return self.fail("an unexpected `(`");
        }
        self.at += 1;
        Ok(true)
    }

    fn function(&mut self, start: usize) -> Parsed<Command> {
        self.at += b"function".len();
        self.skip_blanks();
        let name = Span::new(self.at, self.at + self.peek_word().len());
        if name.is_empty() {
            return self.fail("the name of a function is missing");
        }
        self.at = name.end as usize;
        let before = self.at;
        self.skip_blanks();
        if self.byte() == b'(' {
            self.at += 1;
            self.skip_blanks();
            if self.byte() == b')' {
                self.at += 1;
            } else {
                self.at = before;
            }
        }
        self.function_body(name, start)
    }

    fn function_body(&mut self, name: Span, start: usize) -> Parsed<Command> {
        let written = self.slice(name.start as usize, name.end as usize);
        if written.iter().any(|byte| matches!(byte, b'\\' | b'\'' | b'"' | b'$' | b'`')) {
            return self.fail("a function whose name is quoted or expanded");
        }
        self.skip_newlines()?;
        let body_start = self.at;
        let before = self.here_documents.len();
        let Some(kind) = self.compound()? else {
            return self.fail("the body of a function is missing");
        };
        let body = Box::new(self.with_redirects(kind, body_start)?);
        let span = Span::new(start, body.span.end as usize);
        let documents = before..self.here_documents.len();
        Ok(Command { kind: Kind::Function { name, body, documents }, redirects: Vec::new(), span })
    }

    fn coprocess(&mut self, start: usize) -> Parsed<Command> {
        self.at += b"coproc".len();
        self.skip_blanks();
        let before = self.at;
        let name = self.peek_word();
        let mut body = None;
        if is_name(name) && !COMPOUND.contains(&name) {
            self.at += name.len();
            self.skip_blanks();
            let body_start = self.at;
            if let Some(kind) = self.compound()? {
                body = Some(self.with_redirects(kind, body_start)?);
            } else {
                self.at = before;
            }
        }
        let body = match body {
            Some(body) => body,
            None => self.nested(Self::command)?,
        };
        let span = Span::new(start, body.span.end as usize);
        Ok(Command { kind: Kind::Coprocess(Box::new(body)), redirects: Vec::new(), span })
    }

    /// Reads an assignment, if one follows.
    pub(super) fn assignment(&mut self) -> Parsed<Option<Assignment>> {
        let start = self.at;
        let rest = self.slice(start, self.end);
        let length = rest.iter().position(|byte| !is_name_byte(*byte)).unwrap_or(rest.len());
        let name = Span::new(start, start + length);
        // Most words are followed by something else, which is seen at once.
        let is_followed = matches!(rest.get(length), Some(b'=' | b'+' | b'['));
        if !is_followed || !is_name(self.slice(start, start + length)) {
            return Ok(None);
        }
        self.at += length;
        let subscript = match self.byte() {
            b'[' if !self.is_posix => Some(self.subscript_word()?),
            _ => None,
        };
        let append = self.byte() == b'+' && !self.is_posix;
        if append {
            self.at += 1;
        }
        if self.byte() != b'=' {
            return self.not_an_assignment(start, subscript);
        }
        self.at += 1;
        let value = if self.byte() == b'(' && !self.is_posix {
            Value::Array(self.array()?)
        } else {
            let empty = Word { parts: SmallVec::new(), span: self.span(self.at) };
            Value::Word(self.word()?.unwrap_or(empty))
        };
        Ok(Some(Assignment { name, subscript, append, value, span: self.span(start) }))
    }

    /// Goes back to the start of a word that looked like an assignment.
    ///
    /// Bash reads `name[…]` as one word even with blanks inside; `word` does not.
    fn not_an_assignment(
        &mut self,
        start: usize,
        subscript: Option<Word>,
    ) -> Parsed<Option<Assignment>> {
        if let Some(word) = subscript {
            let inside = self.slice(word.span.start as usize, word.span.end as usize);
            if inside.iter().any(|byte| is_meta(*byte)) {
                return self.fail("a subscript with blanks or operators that is not assigned");
            }
        }
        self.at = start;
        Ok(None)
    }

    fn array(&mut self) -> Parsed<Vec<Word>> {
        self.at += 1;
        self.nested(|parser| {
            let mut words = Vec::new();
            loop {
                parser.burn()?;
                parser.skip_newlines()?;
                if parser.byte() == b')' {
                    parser.at += 1;
                    return Ok(words);
                }
                words.push(parser.word_or("the `)` of an array is missing")?);
            }
        })
    }

    fn declares(&self, words: &[Word]) -> bool {
        let Some([Part::Bare(name)]) = words.first().map(|word| word.parts.as_slice()) else {
            return false;
        };
        // Builtins whose words may be assignments, even of arrays.
        let name = self.slice(name.start as usize, name.end as usize);
        matches!(name, b"declare" | b"local" | b"typeset" | b"export" | b"readonly")
    }

    /// Reads `NAME=(…)` after a declaring builtin, as one word with its elements; other assignments
    /// there are plain words.
    fn declared_array(&mut self) -> Parsed<Option<Word>> {
        let start = self.at;
        let fuel = self.budget.fuel;
        if let Some(assignment) = self.assignment()?
            && let Value::Array(words) = assignment.value
        {
            if assignment.subscript.is_some() {
                return self.fail("an array that is assigned to an element");
            }
            let length = self.slice(start, self.at).iter().position(|byte| *byte == b'(');
            let open = start + length.unwrap_or(0);
            let parts = smallvec![
                Part::Quoted(Span::new(start, open)),
                Part::Array(words, Span::new(open, self.at)),
            ];
            return Ok(Some(Word { parts, span: self.span(start) }));
        }
        // The same bytes are read again as a word in the same steps, so these are refunded.
        self.at = start;
        self.budget.fuel = fuel;
        Ok(None)
    }
}
