//! Lists, pipelines and commands.

use super::machine::{Code, Machine};
use super::{compound, redirect, simple};
use crate::state::Frame;
use crate::syntax::{Command, Item, Kind, List, Pipeline};
use crate::value::{Content, Stream, Written};

/// Interprets a list; returns the text that it writes.
pub(super) fn list(
    run: &mut Machine<'_>,
    code: &Code<'_>,
    list: &List,
    frame: &mut Frame,
    input: &Stream,
) -> Stream {
    let mut written = Written::default();
    let mut input = input.clone();
    for item in list {
        run.takes_input = false;
        written.add(and_or(run, code, item, frame, &input));
        // The rest of the input is unknown.
        if run.takes_input && matches!(&input.content, Content::Literal(_)) {
            input.content = Content::Made;
        }
    }
    written.finish()
}

/// Interprets pipelines that `&&` and `||` join.
fn and_or(
    run: &mut Machine<'_>,
    code: &Code<'_>,
    item: &Item,
    frame: &mut Frame,
    input: &Stream,
) -> Stream {
    if item.background {
        return run.perhaps(|run| {
            let mut written = Written::default();
            for pipeline in &item.pipelines {
                let mut inner = Frame { is_beside: true, ..frame.clone() };
                written.add(pipe(run, code, pipeline, &mut inner, input));
            }
            written.finish()
        });
    }
    let [first, others @ ..] = item.pipelines.as_slice() else { return Stream::default() };
    // The first always runs; the others may run.
    let mut outputs = pipe(run, code, first, frame, input);
    if others.is_empty() {
        return outputs;
    }
    run.perhaps(|run| {
        let mut inner = frame.clone();
        for pipeline in others {
            let output = pipe(run, code, pipeline, &mut inner, input);
            outputs = std::mem::take(&mut outputs).perhaps_with(output);
            frame.rejoin(inner.state.clone());
        }
    });
    outputs
}

fn pipe(
    run: &mut Machine<'_>,
    code: &Code<'_>,
    pipeline: &Pipeline,
    frame: &mut Frame,
    input: &Stream,
) -> Stream {
    if let [only] = pipeline.commands.as_slice() {
        return one(run, code, only, frame, input);
    }
    run.perhaps(|run| {
        let mut stream = input.clone();
        for command in &pipeline.commands {
            let mut inner = Frame { is_beside: true, ..frame.clone() };
            let is_secret = stream.is_secret;
            stream = one(run, code, command, &mut inner, &stream);
            stream.is_secret |= is_secret;
        }
        stream
    })
}

/// Interprets a command; returns the text that it writes.
fn one(
    run: &mut Machine<'_>,
    code: &Code<'_>,
    command: &Command,
    frame: &mut Frame,
    input: &Stream,
) -> Stream {
    if !run.step(1, code.place(command.span)) {
        return Stream::of(Content::Opaque);
    }
    if let Kind::Simple(simple) = &command.kind {
        return simple::command(run, code, (command, simple), frame, input);
    }
    let redirected = redirect::redirects(run, code, &command.redirects, frame, input);
    let was_connected = frame.state.is_connected;
    frame.state.is_connected |= redirected.is_connected;
    let output = match &command.kind {
        Kind::Coprocess(body) => run.perhaps(|run| {
            let mut inner = Frame { is_beside: true, ..frame.clone() };
            // It reads the text written to it later.
            one(run, code, body, &mut inner, &Stream::of(Content::Made));
            Stream::default()
        }),
        _ => compound::compound(run, code, command, frame, &redirected.input),
    };
    frame.state.is_connected = was_connected;
    redirect::write_redirects(run, &redirected, &output, frame);
    if redirected.takes_output { Stream::default() } else { output }
}
