//! The commands around a place in a text: quotes, substitutions, pipelines and their input.

use super::command::{Command, Pipeline};
use super::found::Found;
use super::mark::HERE_DOCS_MAX;
use super::named;
use super::nesting::{Closer, Nesting, can_open, quote_at};
use super::plain::{Quoting, is_plain};
use super::text::{Text, is_name};
use super::value::{self, Ending, Value};

/// The place of a scan among commands.
pub(super) struct Shell<'s, 't> {
    pub(super) text: &'s Text<'t>,
    pub(super) found: &'s mut Found,
    pub(super) nesting: Nesting,
    pub(super) command: Command,
    pub(super) pipeline: Pipeline,
    /// Whether a word begins here.
    pub(super) is_start: bool,
    /// The commands around the open quotes and substitutions.
    outer: Vec<(Command, Pipeline)>,
    here_string_end: usize,
}

impl<'s, 't> Shell<'s, 't> {
    pub(super) fn new(text: &'s Text<'t>, found: &'s mut Found) -> Self {
        Self {
            text,
            found,
            nesting: Nesting::default(),
            command: Command::default(),
            pipeline: Pipeline::default(),
            is_start: true,
            outer: Vec::new(),
            here_string_end: 0,
        }
    }

    /// Returns the value at a place.
    pub(super) fn value(&self, at: usize, ending: Ending) -> Option<Value> {
        value::value(self.text, at, ending, &self.nesting)
    }

    /// Reads a quote, and backslashes before one. Returns the next place.
    pub(super) fn quote(&mut self, at: usize) -> usize {
        let Some((closer, after)) = quote_at(self.text, at) else {
            let after = self.text.run(at, |byte| byte == b'\\');
            // `\` before a line feed continues the line; before `n` it may be one.
            let is_continued = self.text.at(after) == b'\n';
            self.is_start = is_continued;
            return after
                + usize::from(is_continued || matches!(self.text.at(after), b'n' | b'r' | b't'));
        };
        if self.nesting.is_open(closer) {
            self.close(closer);
        } else if can_open(self.text, at) && self.nesting.push(closer) {
            self.enter();
        }
        after
    }

    /// Reads `(`. Returns the next place.
    pub(super) fn open(&mut self, at: usize) -> usize {
        let is_substitution = matches!(self.text.before(at), b'$' | b'<' | b'>');
        if is_substitution && self.nesting.push(Closer { byte: b')', slashes: 0 }) {
            self.enter();
            self.command = Command::default();
        } else if !is_substitution {
            self.end_pipeline();
        }
        self.is_start = true;
        at + 1
    }

    fn enter(&mut self) {
        let within = self.command.within();
        let outer = std::mem::replace(&mut self.command, within);
        self.outer.push((outer, std::mem::take(&mut self.pipeline)));
        self.is_start = true;
    }

    /// Closes a quote or substitution, and those within it.
    pub(super) fn close(&mut self, closer: Closer) {
        for _ in 0..self.nesting.close(closer) {
            self.hide_inputs();
            if let Some((command, pipeline)) = self.outer.pop() {
                let within = std::mem::replace(&mut self.command, command);
                self.command.join(&within);
                self.pipeline = pipeline;
            }
        }
        self.is_start = false;
    }

    /// Reads `;`, `|` or `&`. Returns the next place.
    pub(super) fn operator(&mut self, at: usize) -> usize {
        let byte = self.text.at(at);
        let is_double = self.text.at(at + 1) == byte;
        // `2>&1` and `&>file` are redirections.
        let is_redirection = byte == b'&'
            && (matches!(self.text.before(at), b'>' | b'<') || self.text.at(at + 1) == b'>');
        if is_redirection {
            return at + 1;
        }
        if byte == b'|' && !is_double {
            self.end_command(at);
        } else {
            self.end_pipeline();
        }
        self.is_start = true;
        at + 1 + usize::from(is_double || self.text.has(at, b"|&"))
    }

    /// Ends a command whose output goes to the next one.
    fn end_command(&mut self, at: usize) {
        if let Some(from) = self.command.printed_from {
            self.pipeline.inputs.push(from..at);
        }
        self.command = Command::default();
    }

    fn end_pipeline(&mut self) {
        self.command = Command::default();
        self.hide_inputs();
    }

    fn hide_inputs(&mut self) {
        let pipeline = std::mem::take(&mut self.pipeline);
        if pipeline.reads_secret {
            for input in pipeline.inputs {
                named::hide_words(self.text, input, &self.nesting, self.found);
            }
        }
    }

    /// Ends all commands at the end of the text.
    pub(super) fn end_all(&mut self) {
        self.end_pipeline();
        while let Some((command, pipeline)) = self.outer.pop() {
            self.command = command;
            self.pipeline = pipeline;
            self.end_pipeline();
        }
    }

    /// Reads `<<` and `<<<`. Returns the next place.
    pub(super) fn input(&mut self, at: usize) -> usize {
        if self.text.has(at, b"<<<") {
            let start = self.text.skip_blanks(at + 3);
            // One within the value of another is a part of it.
            if start >= self.here_string_end {
                let end = self.value(start, Ending::Word).map_or(start, |value| value.end);
                self.pipeline.inputs.push(start..end);
                self.here_string_end = end;
            }
            return at + 3;
        }
        if !self.text.has(at, b"<<") {
            return at + 1;
        }
        let start = self
            .text
            .run(at + 2, |byte| matches!(byte, b'-' | b' ' | b'\t' | b'"' | b'\'' | b'\\'));
        let end = self.text.run(start, is_name);
        if start < end && self.pipeline.here_docs.len() < HERE_DOCS_MAX {
            self.pipeline.here_docs.push(start..end);
        }
        end
    }

    /// Ends a line, and hides its here-documents if a program reads a secret from them.
    /// Returns the next place.
    pub(super) fn end_line(&mut self, at: usize) -> usize {
        let here_docs = std::mem::take(&mut self.pipeline.here_docs);
        let reads_secret = self.pipeline.reads_secret;
        self.end_pipeline();
        self.is_start = true;
        let mut next = at + 1;
        for last in here_docs.into_iter().filter(|_| reads_secret) {
            let end = named::here_doc_end(self.text, next, self.text.get(last));
            let body = self.text.skip_blanks(next).min(end)..end;
            if !is_plain(self.text.get(body.clone()).trim_ascii(), Quoting::Double) {
                self.found.add(body);
            }
            next = end;
        }
        next
    }
}
