//! Lists, pipelines and compound commands.

use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

use super::classifier::{Classifier, Code, READING_STEPS, READINGS_MAX};
use super::expand::{Choice, Field};
use super::stream::{Content, Stream, Written};
use crate::shell::{Frame, Parameters};
use crate::span::Span;
use crate::syntax::{Assignment, Command, Item, Kind, List, Pipeline, Simple, Value, Word};
use crate::text::{ELEMENT, MADE, OUTPUT, Text, cut_of, may_be_option, part_of};
use crate::tier::Floor;

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
        let mut input = input.clone();
        for item in list {
            self.takes_input = false;
            self.item(code, item, frame, &input, &mut written);
            // What is left of it is not known.
            if self.takes_input && matches!(&input.content, Content::Literal(_)) {
                input.content = Content::Made;
            }
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
        if item.background {
            let mark = self.shell.enter();
            for pipeline in &item.pipelines {
                let mut inner = Frame { is_beside: true, ..frame.clone() };
                written.add(self.pipeline(code, pipeline, &mut inner, input));
            }
            self.shell.leave(mark);
            return;
        }
        let [first, others @ ..] = item.pipelines.as_slice() else { return };
        // The first always runs; whether the others do is open.
        let mut outputs = self.pipeline(code, first, frame, input);
        if others.is_empty() {
            return written.add(outputs);
        }
        let mark = self.shell.enter();
        let mut inner = frame.clone();
        for pipeline in others {
            let output = self.pipeline(code, pipeline, &mut inner, input);
            outputs = outputs.perhaps_with(output);
            rejoin(frame, &inner);
        }
        self.shell.leave(mark);
        written.add(outputs);
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
            Kind::If(lists) => self.conditional(code, lists, frame, input),
            Kind::While { condition, body } => {
                let mut inner =
                    Frame { is_many: true, loop_since: self.shell.assignments, ..frame.clone() };
                let before = inner.clone();
                self.takes_input = false;
                self.list(code, condition, &mut inner, input);
                let mut rest = input.clone();
                if self.takes_input && matches!(&rest.content, Content::Literal(_)) {
                    rest.content = Content::Made;
                }
                let output = self.turns(code, body, &before, &mut inner, &rest);
                rejoin(frame, &inner);
                output
            }
            Kind::For { variable, words, body } => {
                self.loop_variable(code, code.slice(*variable), words.as_deref(), frame);
                self.counted(code, body, frame, input)
            }
            Kind::ForArithmetic { header, body } => {
                self.arithmetic(code, &header.parts, header.span, frame);
                self.counted(code, body, frame, input)
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
                let mark = self.shell.enter();
                // It reads what the text writes to it later.
                self.command(code, body, &mut inner, &Stream::of(Content::Made));
                self.shell.leave(mark);
                Stream::default()
            }
        }
    }

    /// Remembers a function. Its body is text, since a call may be in another text than the definition;
    /// here-documents of the body follow it in the text and are added.
    fn define(&mut self, code: &Code<'_>, name: &str, body: Span, documents: &Range<usize>) {
        let end = Self::documents_end(code, body, documents).unwrap_or(body.end as usize);
        let text = code.place.part(body.start as usize, end);
        self.shell.define(name, text.owned(), false);
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

    /// Classifies `if`: conditions and branches in turn, and the last branch if there is one without a
    /// condition.
    fn conditional(
        &mut self,
        code: &Code<'_>,
        lists: &[List],
        frame: &mut Frame,
        input: &Stream,
    ) -> Stream {
        let mut written: Option<Stream> = None;
        let mut after: Option<Frame> = None;
        let mut certain: Option<Vec<String>> = None;
        for (number, pair) in lists.chunks(2).enumerate() {
            let body = match pair {
                [condition, body] => {
                    if number == 0 {
                        self.list(code, condition, frame, input);
                    } else {
                        self.apart_in(code, condition, frame, input);
                    }
                    body
                }
                [body] => body,
                _ => continue,
            };
            let mut inner = frame.clone();
            let branch = self.shell.enter();
            let output = self.list(code, body, &mut inner, input);
            let names = self.shell.leave(branch);
            written = Some(match written {
                Some(before) => before.or(output),
                None => output,
            });
            match &mut after {
                Some(after) => rejoin(after, &inner),
                None => after = Some(inner),
            }
            certain = Some(match certain {
                Some(known) => {
                    let names: BTreeSet<String> = names.into_iter().collect();
                    known.into_iter().filter(|name| names.contains(name)).collect()
                }
                None => names,
            });
        }
        let is_whole = lists.len() % 2 == 1;
        if let Some(after) = after {
            let before = std::mem::replace(frame, after);
            if !is_whole {
                rejoin(frame, &before);
            }
        }
        if is_whole {
            self.shell.settle(certain.unwrap_or_default());
        }
        written.unwrap_or_default()
    }

    /// Classifies the bodies of `case`, of which one runs or none.
    fn branches(
        &mut self,
        code: &Code<'_>,
        lists: &[List],
        frame: &mut Frame,
        input: &Stream,
    ) -> Stream {
        let mut written: Option<Stream> = None;
        let before = frame.clone();
        for list in lists {
            let mut inner = before.clone();
            let output = self.apart_in(code, list, &mut inner, input);
            written = Some(match written {
                Some(before) => before.or(output),
                None => output,
            });
            rejoin(frame, &inner);
        }
        written.unwrap_or_default()
    }

    /// Classifies the body of a `for`.
    fn counted(
        &mut self,
        code: &Code<'_>,
        body: &List,
        frame: &mut Frame,
        input: &Stream,
    ) -> Stream {
        let mut inner =
            Frame { is_many: true, loop_since: self.shell.assignments, ..frame.clone() };
        let before = inner.clone();
        let output = self.turns(code, body, &before, &mut inner, input);
        rejoin(frame, &inner);
        output
    }

    /// Classifies the body of a loop: once more if its second turn begins with another folder, other
    /// parameters or other functions.
    fn turns(
        &mut self,
        code: &Code<'_>,
        body: &List,
        before: &Frame,
        inner: &mut Frame,
        input: &Stream,
    ) -> Stream {
        let definitions = self.shell.definitions;
        let output = self.apart_in(code, body, inner, input);
        let is_same = before.folder.is_same(&inner.folder)
            && before.parameters.is_same(&inner.parameters)
            && definitions == self.shell.definitions;
        if is_same {
            return output;
        }
        rejoin(inner, before);
        let mut again = inner.clone();
        self.apart_in(code, body, &mut again, input);
        rejoin(inner, &again);
        output
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
                    self.loop_values(name, others, frame);
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
        self.loop_values(name, fields, frame);
    }

    /// Gives the variable of a loop its values.
    fn loop_values(&mut self, name: &str, fields: Vec<Field<'_>>, frame: &mut Frame) {
        for field in fields {
            let bytes = &*field.text.bytes;
            self.exported(name, field.text.span, false);
            self.prompts(name, bytes, field.text.span, frame);
            let value = match field.spread {
                // What names things one by one is no output that is sent as a whole.
                true => cut_of(bytes).into_iter().filter(|mark| *mark != OUTPUT).collect(),
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
        let mark = self.shell.enter();
        for assignment in assignments {
            self.assignment(code, assignment, words.is_empty(), frame);
        }
        if !words.is_empty() {
            self.shell.leave(mark);
        }
        let redirected = self.redirects(code, &command.redirects, frame, input);
        let was_connected = frame.is_connected;
        frame.is_connected |= redirected.is_connected;
        let mut written: Option<Stream> = None;
        let mut readings = 1;
        let mut reading = 0;
        while reading < readings {
            let mut choice = Choice::of(reading);
            let fields = self.fields(code, words, frame, &mut choice);
            // The number of readings is known after the first.
            if reading == 0 {
                readings = choice.readings.min(READINGS_MAX);
            }
            self.shell.is_last_option |=
                fields.last().is_some_and(|last| may_be_option(&last.text.bytes));
            self.prefixes(code, assignments, &fields);
            let reads = matches!(
                redirected.input.content,
                Content::File | Content::Network | Content::Made
            );
            let next = if fields.is_empty() && reads && assignments.is_empty() {
                // `$(< file)` is what the file holds.
                redirected.input.clone()
            } else if fields.is_empty() {
                Stream::literal(Text::from_span(Vec::new(), code.place(command.span)))
            } else {
                self.run(&fields, frame, &redirected.input)
            };
            written = Some(match written {
                Some(before) => before.or(next),
                None => next,
            });
            reading += 1;
            if reading < readings && !self.step(READING_STEPS, span) {
                break;
            }
        }
        let output = written.unwrap_or_default();
        // `exec` alone opens what it opens for the commands that follow.
        let is_exec = matches!(words.as_slice(), [only] if code.slice(only.span) == "exec");
        frame.is_connected = was_connected || (is_exec && redirected.is_connected);
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
            self.arithmetic(code, &subscript.parts, subscript.span, frame);
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
                if choice.readings <= 1 { value } else { cut_of(&value) }
            }
        };
        if !stays {
            // It is for the command that follows; in a POSIX shell it may stay.
            self.shell.assign(name, value.into());
            self.shell.export(name);
            return;
        }
        if self.shell.integers.iter().any(|integer| integer == name) {
            self.evaluate(&Text::from_span(value.clone(), code.place(assignment.span)), frame);
        }
        let floor = match name {
            "BASH_ALIASES" => Some(Floor::UnknownWord),
            "BASH_CMDS" => Some(Floor::OpaqueCode),
            _ => None,
        };
        if let Some(floor) = floor {
            let reason = "this changes which code runs by a name";
            self.floor(floor, code.place(assignment.span), reason);
        }
        for value in others.iter().chain([&value]) {
            self.prompts(name, value, code.place(assignment.span), frame);
        }
        let is_plain = !assignment.append && assignment.subscript.is_none();
        let added: Option<Rc<[u8]>> = (!is_plain).then(|| value.as_slice().into());
        let value = match (assignment.append, &assignment.subscript) {
            (_, Some(_)) => cut_of(&value),
            (false, None) => value,
            (true, None) if others.is_empty() => {
                self.appended(name, value, &assignment.value, frame.loop_since)
            }
            (true, None) => part_of(&value),
        };
        // Evaluated, it is what it is, wherever it is added.
        if let Some(added) = added {
            self.shell.assign(name, added);
        }
        if is_plain {
            self.shell.set(name, value.into());
        } else {
            self.shell.assign(name, value.into());
        }
        for value in others {
            let value = if is_plain { value } else { part_of(&value) };
            self.shell.assign(name, value.into());
        }
        let exports = self.shell.exports_all;
        self.exported(name, code.place(assignment.span), exports);
    }

    /// Returns what a variable holds after a value was added.
    fn appended(&self, name: &str, value: Vec<u8>, kind: &Value, since: usize) -> Vec<u8> {
        let Some(whole) = self.shell.current(name, since) else {
            // Added to what is not known, it may begin a word or go on with one.
            return part_of(&value);
        };
        // A text is added to the first element.
        if matches!(kind, Value::Word(_)) && whole.contains(&ELEMENT) {
            return part_of(&[whole, &value].concat());
        }
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
    frame.folder = frame.folder.either(&inner.folder);
    if !frame.parameters.is_same(&inner.parameters) {
        let is_made = frame.parameters.mark() == MADE || inner.parameters.mark() == MADE;
        frame.parameters = if is_made { Parameters::Made } else { Parameters::Outside };
    }
    if frame.stack.len() != inner.stack.len() {
        frame.stack.clear();
    }
    frame.is_connected |= inner.is_connected;
}
