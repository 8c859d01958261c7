//! `read` and `mapfile`: variables that get standard input.

use super::super::machine::Machine;
use super::super::own::{Own, Program};
use super::super::{arithmetic, code, variables};
use crate::facts::{Role, Special};
use crate::invocation::Given;
use crate::span::Span;
use crate::state::{Frame, Parameters};
use crate::value::{Content, Field, Mark, Stream, TextBuilder, cut_of, join_elements};
use std::rc::Rc;

pub(super) fn run(
    run: &mut Machine<'_>,
    program: &Program<'_, '_>,
    frame: &mut Frame,
    _own: &mut Own,
) -> Option<Stream> {
    let call = program.call;
    // `mapfile -C` runs code with each line of its input.
    for given in call.given.iter().filter(|given| given.flag.role == Role::Shell) {
        let Some(value) = &given.value else { continue };
        let mut code = TextBuilder::new(value.text.span);
        code.push_text(&value.text);
        code.push_made(b" \"$1\"", value.text.span);
        let parameters = Parameters::Made;
        let mut inner = frame.clone();
        inner.state.parameters = parameters;
        code::here(run, &code.finish(), &mut inner, &Stream::default());
    }
    let is_array = |given: &Given<'_>| given.flag.role == Role::Name;
    let array = call.given.iter().find(|given| is_array(given));
    let names: Vec<&Field<'_>> = match array.and_then(|given| given.value.as_ref()) {
        Some(name) => vec![name],
        None => call.operands.iter().collect(),
    };
    for name in &names {
        arithmetic::evaluate(run, &name.text, frame);
    }
    let names: Vec<String> = match names.as_slice() {
        [] if program.node.special == Special::Read => vec!["REPLY".to_owned()],
        [] => vec!["MAPFILE".to_owned()],
        names => names.iter().map(|name| name.text.display().into_owned()).collect(),
    };
    let text = match &program.input.content {
        Content::Literal(text) => Rc::clone(text),
        content => {
            let mark = match content {
                Content::Made => Mark::Made,
                _ if program.input.is_secret => Mark::Secret,
                _ => Mark::Hole,
            };
            for name in &names {
                assign_read(run, name, call.span, frame, mark.text().to_vec());
            }
            return None;
        }
    };
    if !run.step(names.len() * text.bytes.len() / 64, call.span) {
        return None;
    }
    let lines = text.bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    if program.node.special == Special::ReadLines || array.is_some() {
        let words: Vec<&[u8]> = match program.node.special {
            Special::ReadLines => lines.collect(),
            _ => lines.flat_map(|line| run.variables.pieces(line)).collect(),
        };
        for name in &names {
            assign_read(run, name, call.span, frame, join_elements(&words));
        }
        return None;
    }
    for line in lines {
        let pieces = run.variables.pieces(line);
        for (at, name) in names.iter().enumerate() {
            let rest = pieces.get(at).copied().unwrap_or(b"");
            let is_last = at + 1 == names.len();
            // The last name takes the rest of the line.
            let end = if is_last { line.len() } else { offset(line, rest) + rest.len() };
            let value = line.get(offset(line, rest)..end).unwrap_or(rest);
            assign_read(
                run,
                name,
                call.span,
                frame,
                if rest.is_empty() { Vec::new() } else { value.to_vec() },
            );
            if run.variables.has_separators() {
                assign_read(run, name, call.span, frame, cut_of(line));
            }
        }
    }
    None
}

fn assign_read(run: &mut Machine<'_>, name: &str, span: Span, frame: &mut Frame, value: Vec<u8>) {
    variables::exported(run, name, span, false);
    variables::prompts(run, name, &value, span, frame);
    let bare = name.split('[').next().unwrap_or(name);
    let value = if bare.len() < name.len() { cut_of(&value) } else { value };
    run.variables.assign(bare, value.into());
}

/// Returns the offset of a part in its text.
fn offset(whole: &[u8], part: &[u8]) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize)
}
