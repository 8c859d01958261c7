//! The name of a command -> a function, an alias or a program.

use std::borrow::Cow;
use std::rc::Rc;

use super::machine::{Lookup, Machine, WRAPPERS_MAX};
use super::own::leave_undescribed;
use super::parameters::parameters;
use super::{code, pinned, program};
use crate::effect::{Act, CallId, Hidden};
use crate::facts::{Special, program_name};
use crate::paths;
use crate::span::Span;
use crate::state::{Folder, Frame, Function, Functions};
use crate::tier::Floor;
use crate::value::{Content, Field, Join, Stream, is_mark, is_root};

/// Interprets the words of a command; returns the text that it writes.
pub(super) fn command(
    run: &mut Machine<'_>,
    fields: &[Field<'_>],
    frame: &mut Frame,
    input: &Stream,
    lookup: Lookup,
) -> Stream {
    let Some((first, words)) = fields.split_first() else { return input.clone() };
    let span = first.text.span;
    // A pattern may match any of several files, which costs more than a plain word.
    let patterns = fields.iter().filter(|field| field.spread).count();
    if !run.step(fields.len() + patterns, span) {
        return Stream::of(Content::Opaque);
    }
    if frame.wrappers >= WRAPPERS_MAX {
        run.unparsed(span, "too many programs run each other");
        return Stream::of(Content::Opaque);
    }
    // The root of a path in the home or work tree leaves its program visible.
    let rest = match &*first.text.bytes {
        [root, rest @ ..] if is_root(*root) => rest,
        all => all,
    };
    if first.spread || rest.iter().any(|byte| is_mark(*byte)) {
        let id = run.effects.begin(&first.text.bytes, span);
        leave_undescribed(run, id, words);
        let reason = "the name of the program is not literal";
        run.within(id, |run| run.runs(Hidden::Made, span, reason));
        return Stream::of(Content::Opaque);
    }
    let name = &*first.text.bytes;
    let id = run.effects.begin(name, span);
    let output = match lookup {
        Lookup::Any => function(run, id, (first, words), frame, input),
        Lookup::Program => None,
    };
    let node = match name.starts_with(b"/") {
        true => run.facts.program(program_name(&paths::absolute(name))),
        false => run.facts.program(program_name(name)),
    };
    let known = node.and_then(|id| run.facts.node(id)).map(|node| (node, Cow::Borrowed(first)));
    let known = known.or_else(|| {
        let (node, name) = pinned::program(run, id, first, &frame.state.folder)?;
        Some((node, Cow::Owned(name)))
    });
    match known {
        Some((node, first)) => {
            let is_function = output.is_some();
            let own = program::program(run, (id, node), (&first, words), frame, input);
            // Either of the two may have run.
            if is_function && node.special != Special::Nothing {
                frame.state.folder = Folder::Unknown;
                frame.state.parameters = frame.state.parameters.lost();
            }
            output.unwrap_or(own)
        }
        None => {
            leave_undescribed(run, id, words);
            output.unwrap_or_else(|| unknown(run, id, name, span, frame))
        }
    }
}

/// Interprets an undescribed program.
fn unknown(run: &mut Machine<'_>, id: CallId, name: &[u8], span: Span, frame: &Frame) -> Stream {
    let is_path = name.contains(&b'/');
    if is_path {
        let path = paths::normalised(name, &frame.state.folder, run.ground);
        if run.files.is_fetched(&path) {
            run.within(id, |run| run.runs(Hidden::Network, span, "runs code from a network"));
        }
        for text in run.files.made_texts(&path) {
            run.within(id, |run| code::other(run, &text, frame, &Stream::default()));
        }
    }
    let reason = if is_path {
        "no fact describes a program at this path"
    } else {
        "no fact describes this program"
    };
    run.within(id, |run| run.doubt(Floor::UnknownProgram, span, reason));
    Stream::of(Content::Opaque)
}

/// Interprets the bodies of the functions and aliases with a name, if it has any.
fn function(
    run: &mut Machine<'_>,
    id: CallId,
    (name, words): (&Field<'_>, &[Field<'_>]),
    frame: &mut Frame,
    input: &Stream,
) -> Option<Stream> {
    let span = name.text.span;
    let Functions { bodies, is_cut } = run.shell.functions(&name.text.bytes)?.clone();
    if is_cut {
        run.runs(Hidden::Made, span, "this function has too many bodies");
    }
    let mut written: Option<Stream> = None;
    for body in &bodies {
        let output = run.within(id, |run| call_function(run, body, (span, words), frame, input));
        written = written.join(output);
    }
    written
}

/// Interprets the body of a function or alias with these arguments; `None` for an alias inside
/// itself.
fn call_function(
    run: &mut Machine<'_>,
    body: &Rc<Function>,
    (span, words): (Span, &[Field<'_>]),
    frame: &mut Frame,
    input: &Stream,
) -> Option<Stream> {
    let depth = run.shell.calls.iter().filter(|call| Rc::ptr_eq(call, body)).count();
    if depth > 0 && body.is_alias {
        return None;
    }
    if depth > 0 && frame.is_beside {
        run.does(Act::StartsItself, span);
        return Some(Stream::of(Content::Opaque));
    }
    // A recursive function is read once more, with unknown arguments.
    if depth > 1 {
        return Some(Stream::of(Content::Opaque));
    }
    let parameters = parameters(words);
    let parameters = if depth == 0 { parameters } else { parameters.lost() };
    let outer = std::mem::replace(&mut frame.state.parameters, parameters);
    run.shell.calls.push(Rc::clone(body));
    let output = run.perhaps(|run| code::body(run, body, frame, input));
    run.shell.calls.pop();
    frame.state.parameters = outer;
    Some(output)
}
