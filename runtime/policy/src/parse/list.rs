//! Lists and pipelines.

use smallvec::{SmallVec, smallvec};

use super::parser::{Parsed, Parser};
use crate::syntax::{Command, Item, Kind, List, Pipeline, Word};

/// Returns whether a keyword ends a list. Elsewhere it cannot begin a command.
pub(super) fn is_closing(word: &[u8]) -> bool {
    // A match compares lengths first: most words differ from all of them by that.
    matches!(word, b"then" | b"else" | b"elif" | b"fi" | b"do" | b"done" | b"esac" | b"}")
}

impl Parser<'_> {
    /// Reads commands up to one of these keywords, a `)`, a `;;` or the end, which stays for the
    /// caller.
    pub(super) fn list(&mut self, until: &[&[u8]]) -> Parsed<List> {
        self.nested(|parser| {
            let mut list = Vec::new();
            loop {
                parser.burn()?;
                parser.skip_newlines()?;
                if parser.ends_list() {
                    return Ok(list);
                }
                let word = parser.peek_keyword()?;
                if is_closing(word) {
                    return if until.contains(&word) {
                        Ok(list)
                    } else {
                        parser.fail("a keyword out of place")
                    };
                }
                let (item, ended) = parser.item(until)?;
                // Most lists inside others have one item, of which `push` would make room for four.
                if list.is_empty() {
                    list.reserve_exact(1);
                }
                list.push(item);
                if ended {
                    return Ok(list);
                }
            }
        })
    }

    /// Reads the next item of a text read line by line; `None` at its end.
    pub(super) fn next_item(&mut self) -> Parsed<Option<Item>> {
        self.burn()?;
        self.skip_newlines()?;
        if self.at_end() {
            self.read_here_documents()?;
            return Ok(None);
        }
        if self.ends_list() {
            return self.fail("an unexpected token");
        }
        Ok(Some(self.item(&[])?.0))
    }

    /// Reads a non-empty list.
    pub(super) fn body(&mut self, until: &[&[u8]]) -> Parsed<List> {
        let list = self.list(until)?;
        if list.is_empty() { self.fail("a command is missing") } else { Ok(list) }
    }

    fn ends_list(&self) -> bool {
        self.at_end() || self.byte() == b')' || self.follows(";;") || self.follows(";&")
    }

    /// Reads pipelines up to the next separator; also returns whether the list ends there.
    fn item(&mut self, until: &[&[u8]]) -> Parsed<(Item, bool)> {
        self.skip_blanks();
        let start = self.at;
        let first = self.pipeline()?;
        let mut fails = self.is_posix && self.is_open_condition(&first, start);
        let mut item = Item { pipelines: smallvec![first], background: false };
        loop {
            self.skip_blanks();
            let ended = match (self.byte(), self.ahead(1)) {
                (b'&', b'&') | (b'|', b'|') => {
                    let is_and = self.byte() == b'&';
                    self.at += 2;
                    self.skip_newlines()?;
                    let start = self.at;
                    let next = self.pipeline()?;
                    // In a shell without `[[`, it fails if its `]]` is missing, and the command
                    // after its `&&` does not run.
                    if !is_and || !fails {
                        fails = self.is_posix && self.is_open_condition(&next, start);
                        item.pipelines.push(next);
                    }
                    continue;
                }
                (b'&', _) => {
                    self.at += 1;
                    item.background = true;
                    false
                }
                (b';', next) if next != b';' && next != b'&' => {
                    self.at += 1;
                    false
                }
                (b'\n', _) => {
                    self.newline()?;
                    false
                }
                _ if self.ends_list() || until.contains(&self.peek_keyword()?) => true,
                _ => return self.fail("an unexpected token"),
            };
            return Ok((item, ended));
        }
    }

    /// Returns whether this is `[[` without its `]]`, read as a program, with nothing before it.
    fn is_open_condition(&self, pipeline: &Pipeline, start: usize) -> bool {
        let [Command { kind: Kind::Simple(simple), .. }] = pipeline.commands.as_slice() else {
            return false;
        };
        let [first, .., last] = simple.words.as_slice() else { return false };
        let written = |word: &Word| self.slice(word.span.start as usize, word.span.end as usize);
        first.span.start as usize == start && written(first) == b"[[" && written(last) != b"]]"
    }

    fn pipeline(&mut self) -> Parsed<Pipeline> {
        let mut prefixed = false;
        loop {
            self.burn()?;
            self.skip_blanks();
            match self.peek_keyword()? {
                b"!" => self.at += 1,
                b"time" => {
                    self.at += 4;
                    self.skip_time_options();
                }
                _ => break,
            }
            prefixed = true;
        }
        // `time` and `!` may be alone.
        if prefixed && (self.at_end() || matches!(self.byte(), b'\n' | b';' | b')' | b'&')) {
            return Ok(Pipeline { commands: SmallVec::new() });
        }
        let mut commands = smallvec![self.command()?];
        loop {
            self.skip_blanks();
            if self.byte() != b'|' || self.ahead(1) == b'|' {
                return Ok(Pipeline { commands });
            }
            self.at += if self.ahead(1) == b'&' { 2 } else { 1 };
            self.skip_newlines()?;
            commands.push(self.command()?);
        }
    }

    fn skip_time_options(&mut self) {
        loop {
            self.skip_blanks();
            if !matches!(self.peek_word(), b"-p" | b"--") {
                return;
            }
            self.at += 2;
        }
    }
}
