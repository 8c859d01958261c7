//! Compound commands: groups, branches, loops, functions.

use std::ops::Range;

use super::choice::Choice;
use super::machine::{Code, Machine, READINGS_MAX, Reading};
use super::{arithmetic, expand, variables};
use crate::span::Span;
use crate::state::{Frame, Parameters};
use crate::syntax::{Command, Kind, List, Word};
use crate::value::{Content, Field, Join, Mark, Stream, Text, cut_of};

/// Interprets a command that holds lists; returns the text that they write.
pub(super) fn compound(
    run: &mut Machine<'_>,
    code: &Code<'_>,
    command: &Command,
    frame: &mut Frame,
    input: &Stream,
) -> Stream {
    match &command.kind {
        Kind::Simple(_) | Kind::Coprocess(_) => Stream::default(),
        Kind::Group(list) => run.list(code, list, frame, input),
        Kind::Subshell(list) => apart(run, code, list, &mut frame.clone(), input),
        Kind::If(lists) => conditional(run, code, lists, frame, input),
        Kind::While { condition, body } => {
            let mut inner =
                Frame { is_many: true, loop_since: run.variables.assignments(), ..frame.clone() };
            let before = inner.clone();
            run.takes_input = false;
            run.list(code, condition, &mut inner, input);
            let mut rest = input.clone();
            if run.takes_input && matches!(&rest.content, Content::Literal(_)) {
                rest.content = Content::Made;
            }
            let output = turns(run, code, body, &before, &mut inner, &rest);
            frame.rejoin(inner.state);
            output
        }
        Kind::For { variable, words, body } => {
            loop_variable(run, code, code.slice(*variable), words.as_deref(), frame);
            counted(run, code, body, frame, input)
        }
        Kind::ForArithmetic { header, body } => {
            arithmetic::arithmetic(run, code, &header.parts, header.span, frame);
            counted(run, code, body, frame, input)
        }
        Kind::Case { word, patterns, bodies } => {
            expand::readings(run, code, word, frame);
            for pattern in patterns {
                run.visit(code, &pattern.parts, frame);
            }
            branches(run, code, bodies, frame, input)
        }
        Kind::Condition(words) => {
            arithmetic::condition(run, code, words, frame);
            Stream::literal(Text::from_span(Vec::new(), code.place(command.span)))
        }
        Kind::Arithmetic(word) => {
            arithmetic::arithmetic(run, code, &word.parts, word.span, frame);
            Stream::literal(Text::from_span(Vec::new(), code.place(command.span)))
        }
        Kind::Function { name, body, documents } => {
            define(run, code, code.slice(*name), body.span, documents);
            Stream::literal(Text::from_span(Vec::new(), code.place(command.span)))
        }
    }
}

/// Remembers a function. Its body is kept as text, since a call may be in another text than the
/// definition. Here-documents of the body follow it in the text and are appended.
fn define(
    run: &mut Machine<'_>,
    code: &Code<'_>,
    name: &str,
    body: Span,
    documents: &Range<usize>,
) {
    let end = documents_end(code, body, documents).unwrap_or(body.end as usize);
    let text = code.place.part(body.start as usize, end);
    run.shell.define(name, text.owned(), false);
}

/// Returns the end of the last here-document of a body, if it follows the body.
fn documents_end(code: &Code<'_>, body: Span, documents: &Range<usize>) -> Option<usize> {
    let documents = code.script.here_documents.get(documents.clone())?;
    let end = documents.iter().map(|document| document.span.end).max()?;
    if end <= body.end {
        return None;
    }
    // The line of the delimiter belongs to the here-document.
    let end = end as usize;
    let rest = code.text.get(end..).unwrap_or("");
    Some(end + rest.find('\n').map_or(rest.len(), |at| at + 1))
}

/// Interprets a list that may be skipped, or that runs in a shell of its own.
fn apart(
    run: &mut Machine<'_>,
    code: &Code<'_>,
    list: &List,
    frame: &mut Frame,
    input: &Stream,
) -> Stream {
    run.perhaps(|run| run.list(code, list, frame, input))
}

/// Interprets `if`: conditions and branches in turn, and the final `else`, if any.
fn conditional(
    run: &mut Machine<'_>,
    code: &Code<'_>,
    lists: &[List],
    frame: &mut Frame,
    input: &Stream,
) -> Stream {
    let mut after = None;
    for (number, pair) in lists.chunks(2).enumerate() {
        let body = match pair {
            [condition, body] => {
                // The first condition always runs.
                if number == 0 {
                    run.list(code, condition, frame, input);
                } else {
                    apart(run, code, condition, frame, input);
                }
                body
            }
            [body] => body,
            _ => continue,
        };
        let branch = run.branch(|run| {
            let mut inner = frame.clone();
            (run.list(code, body, &mut inner, input), inner.state)
        });
        after = after.join(Some(branch));
    }
    let Some(((output, state), certain)) = after else { return Stream::default() };
    if lists.len() % 2 == 1 {
        frame.state = state;
        run.variables.settle(certain);
    } else {
        // Without an `else`, all branches may be skipped.
        frame.rejoin(state);
    }
    output
}

/// Interprets the bodies of `case`, of which at most one runs.
fn branches(
    run: &mut Machine<'_>,
    code: &Code<'_>,
    lists: &[List],
    frame: &mut Frame,
    input: &Stream,
) -> Stream {
    let mut written: Option<Stream> = None;
    let before = frame.clone();
    for list in lists {
        let mut inner = before.clone();
        let output = apart(run, code, list, &mut inner, input);
        written = written.join(Some(output));
        frame.rejoin(inner.state);
    }
    written.unwrap_or_default()
}

/// Interprets the body of a `for`.
fn counted(
    run: &mut Machine<'_>,
    code: &Code<'_>,
    body: &List,
    frame: &mut Frame,
    input: &Stream,
) -> Stream {
    let mut inner =
        Frame { is_many: true, loop_since: run.variables.assignments(), ..frame.clone() };
    let before = inner.clone();
    let output = turns(run, code, body, &before, &mut inner, input);
    frame.rejoin(inner.state);
    output
}

/// Interprets the body of a loop; again if its second turn begins with another folder, other
/// parameters or other functions.
fn turns(
    run: &mut Machine<'_>,
    code: &Code<'_>,
    body: &List,
    before: &Frame,
    inner: &mut Frame,
    input: &Stream,
) -> Stream {
    let definitions = run.shell.definitions;
    let output = apart(run, code, body, inner, input);
    let is_same = before.state.folder.is_same(&inner.state.folder)
        && before.state.parameters.is_same(&inner.state.parameters)
        && definitions == run.shell.definitions;
    if is_same {
        return output;
    }
    inner.rejoin(before.state.clone());
    let mut again = inner.clone();
    apart(run, code, body, &mut again, input);
    inner.rejoin(again.state);
    output
}

fn loop_variable(
    run: &mut Machine<'_>,
    code: &Code<'_>,
    name: &str,
    words: Option<&[Word]>,
    frame: &mut Frame,
) {
    let fields = match words {
        Some(words) => {
            let mut choice = Choice::of(0);
            let fields =
                expand::fields(run, &mut Reading { code, frame, choice: &mut choice }, words);
            for reading in 1..choice.readings.min(READINGS_MAX) {
                let others = expand::fields(
                    run,
                    &mut Reading { code, frame, choice: &mut Choice::of(reading) },
                    words,
                );
                loop_values(run, name, others, frame);
            }
            if choice.readings > READINGS_MAX {
                run.variables.assign(name, Mark::Made.text().into());
            }
            fields
        }
        None => match &frame.state.parameters {
            Parameters::Known(all) => all.iter().cloned().map(Field::new).collect(),
            unknown => {
                let mark = unknown.mark();
                run.variables.assign(name, mark.text().into());
                return;
            }
        },
    };
    loop_values(run, name, fields, frame);
}

/// Gives the variable of a loop its values.
fn loop_values(run: &mut Machine<'_>, name: &str, fields: Vec<Field<'_>>, frame: &mut Frame) {
    for field in fields {
        let bytes = &*field.text.bytes;
        variables::exported(run, name, field.text.span, false);
        variables::prompts(run, name, bytes, field.text.span, frame);
        let value = match field.spread {
            // An output used as a list of names is not sent as a whole.
            true => cut_of(bytes).into_iter().filter(|mark| !Mark::Output.is(*mark)).collect(),
            false => bytes.into(),
        };
        run.variables.assign(name, value);
    }
}
