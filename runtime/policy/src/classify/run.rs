//! The name of a command -> a function, an alias or a program.

use std::rc::Rc;

use super::classifier::{Classifier, WRAPPERS_MAX};
use super::expand::Field;
use super::hit::{Cause, note};
use super::stream::{Content, Stream};
use crate::facts::Special;
use crate::paths;
use crate::shell::{Folder, Frame, Function, Functions, Parameters};
use crate::span::Span;
use crate::text::{is_mark, is_root, may_be_option};
use crate::tier::{Floor, Tier};

/// Folders whose programs are those that the facts describe.
const TRUSTED: &[&str] =
    &["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/"];

/// Returns the name by which facts know the program of a word: without its folder if the programs of a
/// system are there.
#[must_use]
pub fn program_name(word: &[u8]) -> &[u8] {
    TRUSTED.iter().find_map(|folder| word.strip_prefix(folder.as_bytes())).unwrap_or(word)
}

impl Classifier<'_> {
    /// Classifies a command, and returns what it writes.
    pub(super) fn run(
        &mut self,
        fields: &[Field<'_>],
        frame: &mut Frame,
        input: &Stream,
    ) -> Stream {
        self.run_as(fields, frame, input, true)
    }

    /// Classifies a command that is a program, whatever functions have its name.
    pub(super) fn run_program(
        &mut self,
        fields: &[Field<'_>],
        frame: &mut Frame,
        input: &Stream,
    ) -> Stream {
        self.run_as(fields, frame, input, false)
    }

    fn run_as(
        &mut self,
        fields: &[Field<'_>],
        frame: &mut Frame,
        input: &Stream,
        may_be_function: bool,
    ) -> Stream {
        let Some((first, words)) = fields.split_first() else { return input.clone() };
        let span = first.text.span;
        // A pattern may be any of the files that it matches, which costs more than a plain word.
        let patterns = fields.iter().filter(|field| field.spread).count();
        if !self.step(fields.len() + patterns, span) {
            return Stream::of(Content::Opaque);
        }
        if frame.wrappers >= WRAPPERS_MAX {
            self.unparsed(span, "too many programs run each other");
            return Stream::of(Content::Opaque);
        }
        // A path below a folder that is not shown is no other program than one that is not known.
        let rest = match &*first.text.bytes {
            [root, rest @ ..] if is_root(*root) => rest,
            all => all,
        };
        if first.spread || rest.iter().any(|byte| is_mark(*byte)) {
            self.floor(Floor::UnknownWord, span, "the name of the program is not literal");
            return Stream::of(Content::Opaque);
        }
        let name = &*first.text.bytes;
        note(&mut self.axes.programs, &String::from_utf8_lossy(name));
        let output = match may_be_function {
            true => self.run_function(first, words, frame, input),
            false => None,
        };
        let normal = paths::normalised(name, &Folder::Work);
        let is_rooted = name.starts_with(b"/");
        let program = self.facts.program(program_name(if is_rooted { &normal } else { name }));
        match program.and_then(|id| self.facts.node(id)) {
            Some(node) => {
                let is_function = output.is_some();
                let own = self.program(node, first, words, frame, input);
                // Which of the two ran is open.
                if is_function && node.special != Special::Nothing {
                    frame.folder = Folder::Unknown;
                    frame.parameters = frame.parameters.lost();
                }
                output.unwrap_or(own)
            }
            None => output.unwrap_or_else(|| {
                let is_path = name.contains(&b'/');
                if is_path && self.is_fetched(&paths::normalised(name, &frame.folder)) {
                    let cause = Cause::Shell("runs code from a network");
                    self.hit(Tier::Irreversible, span, cause);
                }
                if is_path {
                    for text in self.made_texts(&paths::normalised(name, &frame.folder)) {
                        self.code(&text, frame, &Stream::default());
                    }
                }
                let reason = if is_path {
                    "no fact describes a program at this path"
                } else {
                    "no fact describes this program"
                };
                self.floor(Floor::UnknownProgram, span, reason);
                Stream::of(Content::Opaque)
            }),
        }
    }

    /// Classifies what the functions and aliases of a name may run; `None` if there are none.
    fn run_function(
        &mut self,
        name: &Field<'_>,
        words: &[Field<'_>],
        frame: &mut Frame,
        input: &Stream,
    ) -> Option<Stream> {
        let span = name.text.span;
        let name = str::from_utf8(&name.text.bytes).ok()?;
        let Functions { bodies, is_cut } = self.shell.functions(name)?.clone();
        if is_cut {
            self.floor(Floor::UnknownWord, span, "this function has too many bodies");
        }
        let mut written: Option<Stream> = None;
        for body in &bodies {
            let Some(output) = self.call_function(body, words, span, frame, input) else {
                continue;
            };
            written = Some(match written {
                Some(before) => before.or(output),
                None => output,
            });
        }
        written
    }

    /// Classifies the body of a function or alias with these arguments; `None` of an alias in itself.
    fn call_function(
        &mut self,
        body: &Rc<Function>,
        words: &[Field<'_>],
        span: Span,
        frame: &mut Frame,
        input: &Stream,
    ) -> Option<Stream> {
        let depth = self.shell.calls.iter().filter(|call| Rc::ptr_eq(call, body)).count();
        if depth > 0 && body.is_alias {
            return None;
        }
        if depth > 0 && frame.is_beside {
            self.hit(Tier::Irreversible, span, Cause::Shell("starts itself again and again"));
            return Some(Stream::of(Content::Opaque));
        }
        // A function that calls itself is read once more, with arguments of which nothing is known.
        if depth > 1 {
            return Some(Stream::of(Content::Opaque));
        }
        let parameters = parameters(words);
        let parameters = if depth == 0 { parameters } else { parameters.lost() };
        let outer = std::mem::replace(&mut frame.parameters, parameters);
        self.shell.calls.push(Rc::clone(body));
        let mark = self.shell.enter();
        let output = self.body(body, frame, input);
        self.shell.leave(mark);
        self.shell.calls.pop();
        frame.parameters = outer;
        Some(output)
    }
}

/// Returns words as positional parameters.
pub(super) fn parameters(words: &[Field<'_>]) -> Parameters {
    if !words.iter().any(|field| field.spread) {
        return Parameters::Known(words.iter().map(|field| field.text.clone().owned()).collect());
    }
    let is_option = words.iter().any(|field| may_be_option(&field.text.bytes));
    if is_option { Parameters::Made } else { Parameters::Outside }
}

/// Returns parameters without the first of them.
pub(super) fn shifted(parameters: &Parameters, operands: &[Field<'_>]) -> Parameters {
    let count = match operands {
        [] => Some(1),
        [count] => str::from_utf8(&count.text.bytes).ok().and_then(|count| count.parse().ok()),
        _ => None,
    };
    match (parameters, count) {
        (Parameters::Known(all), Some(count)) => {
            Parameters::Known(all.get(count..).unwrap_or(all).into())
        }
        (parameters, _) => parameters.lost(),
    }
}
