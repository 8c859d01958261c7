//! Lists, pipelines and compound commands.

use std::ops::Range;
use std::rc::Rc;

use super::classifier::{Classifier, Code, READINGS_MAX};
use super::expand::{Choice, Field};
use super::stream::{Content, Stream, Written};
use crate::shell::{Frame, Parameters};
use crate::span::Span;
use crate::syntax::{Assignment, Command, Item, Kind, List, Pipeline, Simple, Value, Word};
use crate::text::{ELEMENT, MADE, Text, cut_of, part_of};

impl Classifier<'_> {
    /// Classifies a list, and returns what it writes.
    pub(super) fn list(
        &mut self,
        code: &Code<'_>,
        list: &List,
        frame: &mut Frame,
        input: &Stream,
    ) -> Stream {
        let mut written = Written::default();
        for item in list {
            self.item(code, item, frame, input, &mut written);
        }
        written.finish()
    }

    fn item(
        &mut self,
        code: &Code<'_>,
        item: &Item,
        frame: &mut Frame,
        input: &Stream,
        written: &mut Written,
    ) {
        let mut mark = None;
        for (number, pipeline) in item.pipelines.iter().enumerate() {
            if number == 1 {
                // The first always runs; whether the others do is open.
                mark = Some(self.shell.enter());
            }
            let output = if item.background {
                let mut inner = Frame { is_beside: true, ..frame.clone() };
                self.pipeline(code, pipeline, &mut inner, input)
            } else {
                self.pipeline(code, pipeline, frame, input)
            };
            written.add(output);
        }
        if let Some(mark) = mark {
            self.shell.leave(mark);
        }
    }

    fn pipeline(
        &mut self,
        code: &Code<'_>,
        pipeline: &Pipeline,
        frame: &mut Frame,
        input: &Stream,
    ) -> Stream {
        if let [only] = pipeline.commands.as_slice() {
            return self.command(code, only, frame, input);
        }
        let mut stream = input.clone();
        let mark = self.shell.enter();
        for command in &pipeline.commands {
            let mut inner = Frame { is_beside: true, ..frame.clone() };
            let is_secret = stream.is_secret;
            stream = self.command(code, command, &mut inner, &stream);
            stream.is_secret |= is_secret;
        }
        self.shell.leave(mark);
        stream
    }

    /// Classifies a command, and returns what it writes.
    pub(super) fn command(
        &mut self,
        code: &Code<'_>,
        command: &Command,
        frame: &mut Frame,
        input: &Stream,
    ) -> Stream {
        if !self.step(1, code.place(command.span)) {
            return Stream::of(Content::Opaque);
        }
        if let Kind::Simple(simple) = &command.kind {
            return self.simple(code, command, simple, frame, input);
        }
        let redirected = self.redirects(code, &command.redirects, frame, input);
        let was_connected = frame.is_connected;
        frame.is_connected |= redirected.is_connected;
        let output = self.compound(code, command, frame, &redirected.input);
        frame.is_connected = was_connected;
        self.write_redirects(&redirected, &output, frame);
        if redirected.takes_output { Stream::default() } else { output }
    }

    fn compound(
        &mut self,
        code: &Code<'_>,
        command: &Command,
        frame: &mut Frame,
        input: &Stream,
    ) -> Stream {
        match &command.kind {
            Kind::Simple(_) => Stream::default(),
            Kind::Group(list) => self.list(code, list, frame, input),
            Kind::Subshell(list) => self.apart(code, list, frame.clone(), input),
            Kind::If(lists) => self.branches(code, lists, frame, input),
            Kind::While { condition, body } => {
                let mut inner =
                    Frame { is_many: true, loop_since: self.shell.assignments, ..frame.clone() };
                self.list(code, condition, &mut inner, input);
                let output = self.apart_in(code, body, &mut inner, input);
                rejoin(frame, &inner);
                output
            }
            Kind::For { variable, words, body } => {
                self.loop_variable(code, code.slice(*variable), words.as_deref(), frame);
                let mut inner =
                    Frame { is_many: true, loop_since: self.shell.assignments, ..frame.clone() };
                let output = self.apart_in(code, body, &mut inner, input);
                rejoin(frame, &inner);
                output
            }
            Kind::ForArithmetic { header, body } => {
                self.arithmetic(code, &header.parts, header.span, frame);
                let mut inner =
                    Frame { is_many: true, loop_since: self.shell.assignments, ..frame.clone() };
                let output = self.apart_in(code, body, &mut inner, input);
                rejoin(frame, &inner);
                output
            }
            Kind::Case { word, patterns, bodies } => {
                self.readings(code, word, frame);
                for pattern in patterns {
                    self.visit(code, &pattern.parts, frame);
                }
                self.branches(code, bodies, frame, input)
            }
            Kind::Condition(words) => {
                self.condition(code, words, frame);
                Stream::literal(Text::from_span(Vec::new(), code.place(command.span)))
            }
            Kind::Arithmetic(word) => {
                self.arithmetic(code, &word.parts, word.span, frame);
                Stream::literal(Text::from_span(Vec::new(), code.place(command.span)))
            }
            Kind::Function { name, body, documents } => {
                self.define(code, code.slice(*name), body.span, documents);
                Stream::literal(Text::from_span(Vec::new(), code.place(command.span)))
            }
            Kind::Coprocess(body) => {
                let mut inner = Frame { is_beside: true, ..frame.clone() };
                self.command(code, body, &mut inner, input);
                Stream::default()
            }
        }
    }

    /// Remembers a function. Its body is text, since a call may be in another text than the definition;
    /// here-documents of the body follow it in the text and are added.
    fn define(&mut self, code: &Code<'_>, name: &str, body: Span, documents: &Range<usize>) {
        let end = Self::documents_end(code, body, documents).unwrap_or(body.end as usize);
        let text = code.place.part(body.start as usize, end);
        self.shell.define(name, text.owned());
    }

    /// Returns where the last of a body's here-documents ends, if it follows the body.
    fn documents_end(code: &Code<'_>, body: Span, documents: &Range<usize>) -> Option<usize> {
        let documents = code.script.here_documents.get(documents.clone())?;
        let end = documents.iter().map(|document| document.span.end).max()?;
        if end <= body.end {
            return None;
        }
        // The delimiter's line belongs to it.
        let end = end as usize;
        let rest = code.text.get(end..).unwrap_or("");
        Some(end + rest.find('\n').map_or(rest.len(), |at| at + 1))
    }

    /// Classifies a list in a shell of its own.
    fn apart(&mut self, code: &Code<'_>, list: &List, mut frame: Frame, input: &Stream) -> Stream {
        self.apart_in(code, list, &mut frame, input)
    }

    /// Classifies a list that may not run; what it assigns is not certain after it.
    fn apart_in(
        &mut self,
        code: &Code<'_>,
        list: &List,
        frame: &mut Frame,
        input: &Stream,
    ) -> Stream {
        let mark = self.shell.enter();
        let output = self.list(code, list, frame, input);
        self.shell.leave(mark);
        output
    }

    fn branches(
        &mut self,
        code: &Code<'_>,
        lists: &[List],
        frame: &mut Frame,
        input: &Stream,
    ) -> Stream {
        let mut written = Written::default();
        let before = frame.clone();
        for list in lists {
            let mut inner = before.clone();
            written.add(self.apart_in(code, list, &mut inner, input));
            rejoin(frame, &inner);
        }
        written.finish()
    }

    fn loop_variable(
        &mut self,
        code: &Code<'_>,
        name: &str,
        words: Option<&[Word]>,
        frame: &mut Frame,
    ) {
        let fields = match words {
            Some(words) => {
                let mut choice = Choice::of(0);
                let fields = self.fields(code, words, frame, &mut choice);
                for reading in 1..choice.readings.min(READINGS_MAX) {
                    let others = self.fields(code, words, frame, &mut Choice::of(reading));
                    self.loop_values(name, others);
                }
                if choice.readings > READINGS_MAX {
                    self.shell.assign(name, [MADE].into());
                }
                fields
            }
            None => match &frame.parameters {
                Parameters::Known(all) => all.iter().cloned().map(Field::new).collect(),
                unknown => {
                    let mark = unknown.mark();
                    self.shell.assign(name, [mark].into());
                    return;
                }
            },
        };
        self.loop_values(name, fields);
    }

    /// Gives the variable of a loop its values.
    fn loop_values(&mut self, name: &str, fields: Vec<Field<'_>>) {
        for field in fields {
            let bytes = &*field.text.bytes;
            let value = match field.spread {
                true => [cut_of(bytes)].into(),
                false => bytes.into(),
            };
            self.shell.assign(name, value);
        }
    }

    fn simple(
        &mut self,
        code: &Code<'_>,
        command: &Command,
        simple: &Simple,
        frame: &mut Frame,
        input: &Stream,
    ) -> Stream {
        let Simple { assignments, words } = simple;
        let span = code.place(command.span);
        let beside = assignments.len() * 2 + command.redirects.len();
        if !self.step(beside, span) || !self.affords(words.len(), span) {
            return Stream::of(Content::Opaque);
        }
        for assignment in assignments {
            self.assignment(code, assignment, words.is_empty(), frame);
        }
        let redirected = self.redirects(code, &command.redirects, frame, input);
        let was_connected = frame.is_connected;
        frame.is_connected |= redirected.is_connected;
        let mut written = Written::default();
        let mut readings = 1;
        let mut reading = 0;
        while reading < readings {
            let mut choice = Choice::of(reading);
            let fields = self.fields(code, words, frame, &mut choice);
            // The number of readings is known after the first.
            if reading == 0 {
                readings = choice.readings.min(READINGS_MAX);
            }
            self.prefixes(code, assignments, &fields);
            let reads = matches!(redirected.input.content, Content::File | Content::Network);
            let next = if fields.is_empty() && reads && assignments.is_empty() {
                // `$(< file)` is what the file holds.
                redirected.input.clone()
            } else if fields.is_empty() {
                Stream::literal(Text::from_span(Vec::new(), code.place(command.span)))
            } else {
                self.run(&fields, frame, &redirected.input)
            };
            written.add(next);
            reading += 1;
        }
        let output = written.finish();
        frame.is_connected = was_connected;
        self.write_redirects(&redirected, &output, frame);
        if redirected.takes_output {
            return Stream { is_secret: output.is_secret, ..Stream::default() };
        }
        output
    }

    /// Classifies what an assignment runs; one that is not before a command changes the shell's variable.
    fn assignment(
        &mut self,
        code: &Code<'_>,
        assignment: &Assignment,
        stays: bool,
        frame: &mut Frame,
    ) {
        let name = code.slice(assignment.name);
        if let Some(subscript) = &assignment.subscript {
            self.late_parts(code, &subscript.parts, subscript.span, frame);
        }
        let mut others = Vec::new();
        let value = match &assignment.value {
            Value::Word(word) => {
                let readings = self.readings(code, word, frame).into_iter();
                let mut readings = readings.map(|field| field.text.bytes.into_owned());
                let first = readings.next().unwrap_or_default();
                others.extend(readings);
                first
            }
            Value::Array(words) => {
                let mut choice = Choice::of(0);
                let value = self.array(code, words, frame, &mut choice);
                if choice.readings <= 1 { value } else { vec![cut_of(&value)] }
            }
        };
        if !stays {
            // `IFS=, read …` cuts what is read.
            if name == "IFS" {
                self.shell.assign(name, value.into());
            }
            return;
        }
        for value in others.iter().chain([&value]) {
            self.prompts(name, value, code.place(assignment.span), frame);
        }
        let is_plain = !assignment.append && assignment.subscript.is_none();
        let value = match (assignment.append, &assignment.subscript) {
            (_, Some(_)) => vec![cut_of(&value)],
            (false, None) => value,
            (true, None) if others.is_empty() => {
                self.appended(name, value, &assignment.value, frame.loop_since)
            }
            (true, None) => vec![part_of(&value)],
        };
        if is_plain {
            self.shell.set(name, value.into());
        } else {
            self.shell.assign(name, value.into());
        }
        for value in others {
            let value = if is_plain { value } else { vec![part_of(&value)] };
            self.shell.assign(name, value.into());
        }
        self.exported(name, code.place(assignment.span), false);
    }

    /// Returns what a variable holds after a value was added.
    fn appended(&self, name: &str, value: Vec<u8>, kind: &Value, since: usize) -> Vec<u8> {
        let Some(whole) = self.shell.current(name, since) else {
            // Added to what is not known, it may begin a word or go on with one.
            return vec![part_of(&value)];
        };
        let mut whole = whole.to_vec();
        if matches!(kind, Value::Array(_)) && !whole.is_empty() {
            whole.push(ELEMENT);
        }
        whole.extend(value);
        whole
    }
}

/// After commands that may not have run, the folder is known only if they left it as it was.
pub(super) fn rejoin(frame: &mut Frame, inner: &Frame) {
    if !frame.folder.is_same(&inner.folder) {
        frame.folder = crate::shell::Folder::Unknown;
    }
    match (&frame.parameters, &inner.parameters) {
        (Parameters::Outside, Parameters::Outside) => {}
        (Parameters::Known(own), Parameters::Known(other))
            if Rc::ptr_eq(own, other) || same_texts(own, other) => {}
        (own, other) => {
            let is_made = own.mark() == MADE || other.mark() == MADE;
            frame.parameters = if is_made { Parameters::Made } else { Parameters::Outside };
        }
    }
}

fn same_texts(a: &[Text<'_>], b: &[Text<'_>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.bytes == b.bytes)
}
