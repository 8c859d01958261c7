//! Redirections.

use super::choice::Choice;
use super::machine::{Code, Machine, Reading};
use super::{expand, path};
use crate::effect::{Act, Sent, Touch, What};
use crate::language;
use crate::paths::PathClass;
use crate::span::Span;
use crate::state::Frame;
use crate::syntax::{Redirect, RedirectKind};
use crate::value::{Content, Field, Mark, Stream, Text};

/// The effect of the redirections of a command.
pub(super) struct Redirected<'c> {
    /// The standard input of the command.
    pub(super) input: Stream,
    /// Whether standard output is redirected.
    pub(super) takes_output: bool,
    /// Whether a descriptor is a connection.
    pub(super) is_connected: bool,
    /// The redirection of standard output to a connection that an earlier command opened.
    connection: Option<Span>,
    /// Files that get the command's output, written once it is known.
    targets: Vec<Target<'c>>,
}

struct Target<'c> {
    touch: Touch,
    field: Field<'c>,
    /// Whether it receives standard output.
    is_output: bool,
}

/// Reads the redirections of a command. `write_redirects` judges their output.
pub(super) fn redirects<'c>(
    run: &mut Machine<'_>,
    code: &Code<'c>,
    redirects: &'c [Redirect],
    frame: &mut Frame,
    input: &Stream,
) -> Redirected<'c> {
    let mut redirected = Redirected {
        input: input.clone(),
        takes_output: false,
        is_connected: false,
        connection: None,
        targets: Vec::new(),
    };
    for redirect in redirects {
        one(run, code, redirect, frame, &mut redirected);
    }
    redirected
}

fn one<'c>(
    run: &mut Machine<'_>,
    code: &Code<'c>,
    redirect: &'c Redirect,
    frame: &mut Frame,
    redirected: &mut Redirected<'c>,
) {
    let is_input = redirect.descriptor.is_none_or(|descriptor| descriptor == 0);
    let is_output = redirect.descriptor.is_none_or(|descriptor| descriptor == 1);
    if let RedirectKind::HereDocument(index) = redirect.kind {
        if let Some(document) = code.script.here_documents.get(index) {
            let mut choice = Choice::of(0);
            let reading = &mut Reading { code, frame, choice: &mut choice };
            let field = expand::single(run, reading, &document.parts, document.span);
            if is_input {
                redirected.input = match choice.readings {
                    0 | 1 => Stream::literal(field.text.owned()),
                    _ => Stream::of(Content::Made),
                };
            }
        }
        return;
    }
    let mut readings = expand::readings(run, code, &redirect.target, frame);
    let Some(field) = readings.pop() else { return };
    let is_one = readings.is_empty();
    let touch = match redirect.kind {
        RedirectKind::Append => Touch::Append,
        _ => Touch::Write,
    };
    if matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append) {
        for other in readings {
            output_to(run, touch, other, is_output, frame, redirected);
        }
    }
    match redirect.kind {
        RedirectKind::HereDocument(_) => {}
        RedirectKind::HereString => {
            if is_input {
                redirected.input = match is_one {
                    true => Stream::literal(field.text.owned()),
                    false => Stream::of(Content::Made),
                };
            }
        }
        RedirectKind::Read | RedirectKind::ReadWrite => {
            let path = path::shell_read(run, &field.text, frame);
            let mut stream = match &field.stream {
                Some(stream) => (**stream).clone(),
                None if run.files.is_made(&path.bytes) => Stream::of(Content::Made),
                None => Stream::of(Content::File),
            };
            stream.is_secret |= path.is_secret;
            if path.class == PathClass::Connection {
                redirected.is_connected = true;
                stream = Stream::of(Content::Network);
                connection(run, &field.text);
            } else if redirect.kind == RedirectKind::ReadWrite {
                redirected.targets.push(Target { touch: Touch::Append, field, is_output: false });
            } else if path.class == PathClass::Null {
                stream = match path.bytes.as_slice() {
                    b"/dev/null" => Stream::literal(Text::from_span(Vec::new(), Span::default())),
                    b"/dev/stdin" | b"/dev/tty" => redirected.input.clone(),
                    _ if field.stream.is_some() => stream,
                    _ => Stream::of(Content::Opaque),
                };
            }
            if is_input {
                redirected.input = stream;
            }
        }
        RedirectKind::Duplicate => {
            let is_descriptor =
                field.text.bytes.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-');
            if is_descriptor {
                if code.slice(redirect.span).contains('<') && is_input {
                    let closes = field.text.bytes.ends_with(b"-");
                    redirected.input =
                        Stream::of(if closes { Content::Terminal } else { Content::Opaque });
                }
                redirected.takes_output |= is_output && &*field.text.bytes == b"2";
                let is_own = matches!(&*field.text.bytes, b"0" | b"1" | b"2" | b"-");
                if is_output && !is_own && frame.state.is_connected {
                    redirected.connection = Some(field.text.span);
                }
            } else if code.slice(redirect.span).contains("<&") {
                // A variable holds the descriptor.
                if is_input {
                    redirected.input = Stream::of(Content::Opaque);
                }
            } else {
                output_to(run, Touch::Write, field, is_output, frame, redirected);
            }
        }
        RedirectKind::Write | RedirectKind::Append => {
            output_to(run, touch, field, is_output, frame, redirected);
        }
    }
}

fn output_to<'c>(
    run: &mut Machine<'_>,
    touch: Touch,
    field: Field<'c>,
    is_output: bool,
    frame: &Frame,
    redirected: &mut Redirected<'c>,
) {
    if field.stream.is_none()
        && path::path_of(run, &field.text, frame).class == PathClass::Connection
    {
        redirected.is_connected = true;
        connection(run, &field.text);
    }
    redirected.takes_output |= is_output;
    redirected.targets.push(Target { touch, field, is_output });
}

/// Adds the output to its files. A known empty output empties its file.
pub(super) fn write_redirects(
    run: &mut Machine<'_>,
    redirected: &Redirected<'_>,
    output: &Stream,
    frame: &Frame,
) {
    if let Some(span) = redirected.connection {
        written_by_hand(run, output, span);
    }
    for target in &redirected.targets {
        if target.field.stream.is_some() {
            continue;
        }
        if target.field.text.bytes.starts_with(b"-") {
            run.does(Act::NamesOption, target.field.text.span);
        }
        let touch = match target.touch {
            Touch::Write if target.is_output && output.is_empty() => Touch::Empty,
            touch => touch,
        };
        path::shell_path(run, touch, &target.field.text, frame);
        let path = path::path_of(run, &target.field.text, frame);
        if target.is_output && matches!(output.content, Content::Network) {
            run.files.fetch(path.bytes.clone());
        }
        if target.is_output && path.class != PathClass::Null {
            let is_added = matches!(target.touch, Touch::Append);
            run.files.make(path.bytes.clone(), output, is_added);
        }
        if path.class == PathClass::Connection && target.is_output {
            written_by_hand(run, output, target.field.text.span);
        }
    }
}

/// Adds a text written to a connection.
fn written_by_hand(run: &mut Machine<'_>, output: &Stream, span: Span) {
    let text = match &output.content {
        Content::Literal(text) => &*text.bytes,
        Content::Made => {
            run.effects.add(What::Sends(Sent::Output), span);
            &[]
        }
        _ => &[],
    };
    if output.is_secret || Mark::Credential.is_in(text) {
        run.effects.add(What::Sends(Sent::Secret), span);
    }
    if let Some(act) = language::wire::act(text) {
        run.does(act, span);
    }
}

/// Adds a connection opened by the shell itself.
fn connection(run: &mut Machine<'_>, text: &Text<'_>) {
    if let Some(host) = text.bytes.split(|byte| *byte == b'/').nth(3) {
        let host = run.effects.value(host);
        run.effects.add(What::Connects(host), text.span);
    }
    run.does(Act::OpensConnection, text.span);
}
