//! Code that is a text: of `eval`, of `sh -c`, of functions; and what the shell evaluates late.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::classifier::{Classifier, Code, NESTING_MAX, READINGS_MAX};
use super::command::rejoin;
use super::expand::{Choice, Field};
use super::stream::{Content, Stream};
use crate::parse::{self, ParseError};
use crate::shell::{Dialect, Frame, Function, Parsed};
use crate::span::Span;
use crate::syntax::{Part, Script, Word};
use crate::text::{
    ELEMENT, HOLE, HOME, MADE, NAME, OUTPUT, QUERY, SECRET, STAR, Text, TextBuilder, WORK,
};
use crate::tier::Floor;

impl Classifier<'_> {
    /// Classifies a text as code of a shell of its own, which has only the variables that were exported.
    pub(super) fn code(&mut self, text: &Text<'_>, frame: &Frame, input: &Stream) -> Stream {
        if !self.step(self.shell.variable_count(), text.span) {
            return Stream::default();
        }
        let mut inner = frame.clone();
        let variables = self.shell.fork();
        self.shell.begin_process();
        let output = self.code_here(text, &mut inner, input);
        self.shell.join(variables);
        output
    }

    /// Classifies a text as code of this shell.
    pub(super) fn code_here(
        &mut self,
        text: &Text<'_>,
        frame: &mut Frame,
        input: &Stream,
    ) -> Stream {
        if !self.enters_code(text, frame) {
            return Stream::default();
        }
        let text = readable(text);
        if frame.dialect == Dialect::Other && differs(&text.bytes) {
            return self.both_readings(&text, frame, input);
        }
        self.one_reading(&text, frame, input)
    }

    fn one_reading(&mut self, text: &Text<'_>, frame: &mut Frame, input: &Stream) -> Stream {
        match self.parsed(text, frame.dialect) {
            Some((source, script)) => {
                self.commands(&Code { text: source, place: text, script: &script }, frame, input)
            }
            None => Stream::default(),
        }
    }

    /// Classifies a text as a shell reads it that has nothing of bash, and as bash does.
    fn both_readings(&mut self, text: &Text<'_>, frame: &mut Frame, input: &Stream) -> Stream {
        if !self.step(1 + self.shell.variable_count() + text.bytes.len() / 4, text.span) {
            return Stream::default();
        }
        let mut other = Frame { dialect: Dialect::Posix, ..frame.clone() };
        let variables = self.shell.fork();
        let first = self.one_reading(text, &mut other, input);
        // What this reading read is marked after the next one: there it would be read before it is set.
        let read = self.shell.fork();
        self.shell.restore(variables);
        frame.dialect = Dialect::OtherAsBash;
        let second = self.one_reading(text, frame, input);
        let variables = self.shell.fork();
        self.shell.restore(read);
        self.shell.join(variables);
        frame.dialect = Dialect::Other;
        rejoin(frame, &other);
        let is_secret = first.is_secret || second.is_secret;
        let content = match (first.content, second.content) {
            (Content::Network, _) | (_, Content::Network) => Content::Network,
            (Content::Literal(one), Content::Literal(two)) if one.bytes == two.bytes => {
                Content::Literal(two)
            }
            (Content::Opaque, Content::Opaque) => Content::Opaque,
            (Content::Terminal, Content::Terminal) => Content::Terminal,
            _ => Content::Made,
        };
        Stream { content, is_secret }
    }

    /// Classifies the body of a function, which is parsed when it is first called.
    pub(super) fn body(&mut self, body: &Function, frame: &mut Frame, input: &Stream) -> Stream {
        match frame.dialect {
            Dialect::Bash | Dialect::OtherAsBash => {}
            Dialect::Other if !differs(&body.text.bytes) => {}
            _ => return self.code_here(&body.text, frame, input),
        }
        if !self.enters_code(&body.text, frame) {
            return Stream::default();
        }
        let Parsed { text, script } = match body.parsed.get() {
            Some(parsed) => parsed,
            None => {
                let text = readable(&body.text).owned();
                let Some((_, script)) = self.parsed(&text, Dialect::Bash) else {
                    return Stream::default();
                };
                body.parsed.get_or_init(|| Parsed { text, script })
            }
        };
        let source = str::from_utf8(&text.bytes).unwrap_or("");
        self.commands(&Code { text: source, place: text, script }, frame, input)
    }

    /// Classifies the code of traps where the text ends, with the functions of then.
    pub(super) fn traps(&mut self, frame: &mut Frame) {
        for code in std::mem::take(&mut self.shell.traps) {
            self.code_here(&code, frame, &Stream::of(Content::Opaque));
        }
    }

    /// Classifies the code of traps in another folder.
    pub(super) fn traps_in(&mut self, frame: &Frame) {
        for code in self.shell.traps.clone() {
            let mark = self.shell.enter();
            // A trap that changes the folder is not read because of that once more.
            let traps = std::mem::take(&mut self.shell.traps);
            self.code_here(&code, &mut frame.clone(), &Stream::of(Content::Opaque));
            self.shell.traps = traps;
            self.shell.leave(mark);
        }
    }

    /// Judges code before it is read; returns whether it may be.
    fn enters_code(&mut self, text: &Text<'_>, frame: &Frame) -> bool {
        if frame.nesting >= NESTING_MAX {
            self.unparsed(text.span, "code is nested too deep");
            return false;
        }
        if !self.step(1 + text.bytes.len() / 4, text.span) {
            return false;
        }
        if text.has_hole() {
            self.floor(Floor::UnknownWord, text.span, "this code is not literal");
        }
        true
    }

    /// Parses code; one that is not understood is judged as that.
    fn parsed<'t>(&mut self, text: &'t Text<'_>, dialect: Dialect) -> Option<(&'t str, Script)> {
        let Ok(source) = str::from_utf8(&text.bytes) else {
            self.unparsed(text.span, "broken UTF-8");
            return None;
        };
        if dialect == Dialect::Posix {
            return self.parsed_lines(source, text).map(|script| (source, script));
        }
        match parse::parse_within(source, &mut self.budget) {
            Ok(script) => Some((source, script)),
            Err(error) => {
                self.unparsed(place_of(&error, text), error.reason);
                None
            }
        }
    }

    /// Parses code as a shell does that has nothing of bash. What it refuses does not run, if it is certain
    /// that it refuses.
    fn parsed_lines(&mut self, source: &str, text: &Text<'_>) -> Option<Script> {
        let (script, error) = match parse::parse_other_within(source, &mut self.budget) {
            Ok(parsed) => parsed,
            Err(error) => {
                self.unparsed(place_of(&error, text), error.reason);
                return None;
            }
        };
        let Some(error) = error else {
            if mixes(&text.bytes) {
                self.floor(Floor::OpaqueCode, text.span, "not every shell reads this code alike");
            }
            return Some(script);
        };
        if !REFUSED.contains(&error.reason) {
            self.unparsed(place_of(&error, text), error.reason);
        } else if has_parentheses(&text.bytes) {
            // A shell that has some of bash may read on.
            self.floor(Floor::OpaqueCode, text.span, "not every shell reads this code alike");
        }
        Some(script)
    }

    fn commands(&mut self, code: &Code<'_>, frame: &mut Frame, input: &Stream) -> Stream {
        frame.nesting += 1;
        let output = self.list(code, &code.script.body, frame, input);
        frame.nesting -= 1;
        output
    }

    /// Classifies the expansions of a text that the shell evaluates after it was quoted.
    pub(super) fn late(&mut self, text: &Text<'_>, frame: &mut Frame) {
        let is_plain = !text.bytes.iter().any(|byte| matches!(byte, b'$' | b'`'));
        if is_plain {
            return;
        }
        if frame.nesting >= NESTING_MAX {
            self.unparsed(text.span, "code is nested too deep");
            return;
        }
        let text = readable(text);
        let Ok(source) = str::from_utf8(&text.bytes) else { return };
        let (parts, here_documents) = match parse::expansions(source, &mut self.budget) {
            Ok(parsed) => parsed,
            Err(error) => {
                self.unparsed(place_of(&error, &text), error.reason);
                return;
            }
        };
        frame.nesting += 1;
        let script = Script { body: Vec::new(), here_documents };
        let code = Code { text: source, place: &text, script: &script };
        self.visit(&code, &parts, frame);
        frame.nesting -= 1;
    }

    /// Classifies what a value runs when it is expanded as a prompt (`${name@P}`).
    pub(super) fn late_prompt(&mut self, value: &[u8], span: Span, frame: &mut Frame) {
        if value.contains(&b'\\') {
            self.floor(Floor::UnknownWord, span, "what this prompt expands to is not shown");
        }
        self.late(&Text::from_span(value, span), frame);
    }

    /// Classifies a subscript or another expression that is evaluated, in each of its readings.
    pub(super) fn arithmetic<'c>(
        &mut self,
        code: &Code<'c>,
        parts: &'c [Part],
        span: Span,
        frame: &mut Frame,
    ) {
        let mut reading = 0;
        loop {
            let mut choice = Choice::of(reading);
            let field = self.single_reading(code, parts, span, frame, &mut choice);
            self.evaluate(&field.text, frame);
            reading += 1;
            if reading >= choice.readings.min(READINGS_MAX) {
                return;
            }
        }
    }

    /// Classifies what evaluating an arithmetic text runs: expansions in it, and in the values of the
    /// variables that it names.
    pub(super) fn evaluate(&mut self, text: &Text<'_>, frame: &mut Frame) {
        if self.shell.is_lost() && text.bytes.contains(&MADE) {
            self.floor(Floor::UnknownWord, text.span, "what is evaluated here is not shown");
        }
        let mut open = vec![text.clone().owned()];
        let mut named: BTreeSet<String> = BTreeSet::new();
        while let Some(text) = open.pop() {
            self.late(&text, frame);
            for name in text.bytes.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_')) {
                let Ok(shown) = str::from_utf8(name) else { continue };
                if name.is_empty() || self.shell.literals(shown).is_empty() {
                    continue;
                }
                if !named.insert(shown.to_owned()) {
                    continue;
                }
                for value in self.shell.literals(shown).to_vec() {
                    if !self.step(1, text.span) || !self.expands(&value, text.span) {
                        return;
                    }
                    open.push(Text::from_span(value.to_vec(), text.span));
                }
            }
        }
        self.arithmetic_assigns(&text.bytes);
    }

    /// Notes what an arithmetic text assigns.
    fn arithmetic_assigns(&mut self, bytes: &[u8]) {
        // The last name that was read, which is assigned once.
        let mut name = 0..0;
        let mut before = 0;
        for (at, byte) in bytes.iter().enumerate() {
            let next = bytes.get(at + 1).copied().unwrap_or(0);
            let is_assignment =
                (*byte == b'=' && next != b'=' && !matches!(before, b'=' | b'!' | b'<' | b'>'))
                    || (matches!((*byte, next), (b'+', b'+') | (b'-', b'-')));
            before = *byte;
            if byte.is_ascii_alphanumeric() || *byte == b'_' {
                name = if name.end == at { name.start..at + 1 } else { at..at + 1 };
            } else if is_assignment
                && let Ok(assigned) = str::from_utf8(bytes.get(name.clone()).unwrap_or(&[]))
                && !assigned.is_empty()
            {
                self.shell.assign(assigned, Rc::from([NAME]));
                name = 0..0;
            }
        }
    }

    /// Classifies `[[ … ]]`.
    pub(super) fn condition(&mut self, code: &Code<'_>, words: &[Word], frame: &mut Frame) {
        let mut reading = 0;
        loop {
            let mut choice = Choice::of(reading);
            let fields: Vec<Field<'_>> = words
                .iter()
                .map(|word| self.single_reading(code, &word.parts, word.span, frame, &mut choice))
                .collect();
            for (at, field) in fields.iter().enumerate() {
                let before = at.checked_sub(1).and_then(|at| fields.get(at));
                match &*field.text.bytes {
                    b"-eq" | b"-ne" | b"-lt" | b"-le" | b"-gt" | b"-ge" => {
                        for operand in [before, fields.get(at + 1)].into_iter().flatten() {
                            self.evaluate(&operand.text, frame);
                        }
                    }
                    b"-v" | b"-R" => {
                        for operand in fields.get(at + 1).into_iter() {
                            self.evaluate(&operand.text, frame);
                        }
                    }
                    b"=~" => self.shell.assign("BASH_REMATCH", [MADE].into()),
                    _ => {}
                }
            }
            reading += 1;
            if reading >= choice.readings.min(READINGS_MAX) {
                return;
            }
        }
    }

    /// Joins fields by blanks to a text of code.
    pub(super) fn join_words(fields: &[Field<'_>]) -> Option<Text<'static>> {
        let first = fields.first()?;
        let last = fields.last()?;
        let mut builder = TextBuilder::new(first.text.span.to(last.text.span));
        for (number, field) in fields.iter().enumerate() {
            if number > 0 {
                let end = field.text.span.start;
                builder.push_byte(b' ', Span { start: end, end });
            }
            builder.push_text(&field.text);
        }
        Some(builder.finish())
    }
}

/// Why a text is refused that no shell reads.
const REFUSED: &[&str] = &[
    "an unexpected token",
    "an unexpected `(`",
    "a keyword out of place",
    "a keyword is missing",
    "a command is missing",
    "a `)` is missing",
    "the target of a redirection is missing",
    "the variable of a loop is missing",
];

/// What bash reads in another way than shells that have nothing of it, where both read it.
const DIFFERENT: &[&[u8]] =
    &[b"((", b"[[", b"function", b"coproc", b"$'", b"$\"", b"$[", b"&>", b"+="];

/// Returns whether a shell other than bash may read a text in another way.
fn differs(text: &[u8]) -> bool {
    DIFFERENT.iter().any(|sign| contains(text, sign))
}

/// Returns whether a text has `((`, and more that shells read in two ways: one may have the one of bash, and
/// not the other.
fn mixes(text: &[u8]) -> bool {
    has_parentheses(text) && DIFFERENT.iter().skip(1).any(|sign| contains(text, sign))
}

/// Returns whether a text has `((` that is neither of `$((` nor of `for ((`.
fn has_parentheses(text: &[u8]) -> bool {
    let mut before: &[u8] = &[];
    text.split_inclusive(|byte| *byte == b'(').any(|piece| {
        let is_open = piece == b"("
            && !before.is_empty()
            && !before.ends_with(b"$(")
            && !before.ends_with(b"for (");
        before = piece;
        is_open
    })
}

fn contains(text: &[u8], sign: &[u8]) -> bool {
    text.windows(sign.len()).any(|window| window == sign)
}

/// Returns code in which marks are what a shell would write for them. What is not known becomes a
/// variable that never has a value.
fn readable<'t>(text: &Text<'t>) -> Text<'t> {
    if text.is_literal() {
        return text.clone();
    }
    let mut builder = TextBuilder::new(text.span);
    let mut plain = 0;
    for (at, byte) in text.bytes.iter().enumerate() {
        let written: &[u8] = match *byte {
            HOLE | MADE | OUTPUT | SECRET => b"$_",
            NAME => b"0",
            STAR => b"*",
            QUERY => b"?",
            HOME => b"~",
            WORK => b".",
            ELEMENT => b" ",
            _ => continue,
        };
        builder.push_part(text, plain, at);
        builder.push_made(written, text.place(at, at + 1));
        plain = at + 1;
    }
    builder.push_part(text, plain, text.bytes.len());
    builder.finish()
}

fn place_of(error: &ParseError, text: &Text<'_>) -> Span {
    let at = (error.at as usize).min(text.bytes.len().saturating_sub(1));
    text.place(at, at + 1)
}
