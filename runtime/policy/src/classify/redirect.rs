//! Redirections.

use super::classifier::{Classifier, Code};
use super::expand::{Choice, Field};
use super::hit::Cause;
use super::hit::Effect;
use super::stream::{Content, Stream};
use crate::paths::PathClass;
use crate::shell::Frame;
use crate::span::Span;
use crate::syntax::{Redirect, RedirectKind};
use crate::text::Text;
use crate::tier::Tier;

/// What the redirections of a command do.
pub(super) struct Redirected<'c> {
    /// What the command reads.
    pub(super) input: Stream,
    /// Whether standard output goes elsewhere.
    pub(super) takes_output: bool,
    /// Whether a descriptor is a connection.
    pub(super) is_connected: bool,
    /// Where standard output goes to a connection that an earlier command opened.
    connection: Option<Span>,
    /// What is written once the command's output is known.
    targets: Vec<Target<'c>>,
}

struct Target<'c> {
    effect: Effect,
    field: Field<'c>,
    /// Whether it is standard output that goes there.
    is_output: bool,
}

impl Classifier<'_> {
    /// Reads the redirections of a command. What they write is judged by `write_redirects`.
    pub(super) fn redirects<'c>(
        &mut self,
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
            self.redirect(code, redirect, frame, &mut redirected);
        }
        redirected
    }

    fn redirect<'c>(
        &mut self,
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
                let field =
                    self.single_reading(code, &document.parts, document.span, frame, &mut choice);
                if is_input {
                    redirected.input = match choice.readings {
                        0 | 1 => Stream::literal(field.text.owned()),
                        _ => Stream::of(Content::Made),
                    };
                }
            }
            return;
        }
        let mut readings = self.readings(code, &redirect.target, frame);
        let Some(field) = readings.pop() else { return };
        let is_one = readings.is_empty();
        let effect = match redirect.kind {
            RedirectKind::Append => Effect::Append,
            _ => Effect::Write,
        };
        if matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append) {
            for other in readings {
                self.output_to(effect, other, is_output, frame, redirected);
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
                let path = self.reads(&field.text, frame);
                let mut stream = match &field.stream {
                    Some(stream) => (**stream).clone(),
                    None if self.is_made(&path.bytes) => Stream::of(Content::Made),
                    None => Stream::of(Content::File),
                };
                stream.is_secret |= path.is_secret;
                if path.class == PathClass::Connection {
                    redirected.is_connected = true;
                    stream = Stream::of(Content::Network);
                    self.connection(&field.text);
                } else if redirect.kind == RedirectKind::ReadWrite {
                    redirected.targets.push(Target {
                        effect: Effect::Append,
                        field,
                        is_output: false,
                    });
                } else if path.class == PathClass::Null {
                    stream = match path.bytes.as_slice() {
                        b"/dev/null" => {
                            Stream::literal(Text::from_span(Vec::new(), Span::default()))
                        }
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
                    if is_output && !is_own && frame.is_connected {
                        redirected.connection = Some(field.text.span);
                    }
                } else if code.slice(redirect.span).contains("<&") {
                    // A descriptor that a variable holds.
                    if is_input {
                        redirected.input = Stream::of(Content::Opaque);
                    }
                } else {
                    self.output_to(Effect::Write, field, is_output, frame, redirected);
                }
            }
            RedirectKind::Write | RedirectKind::Append => {
                self.output_to(effect, field, is_output, frame, redirected);
            }
        }
    }

    fn output_to<'c>(
        &mut self,
        effect: Effect,
        field: Field<'c>,
        is_output: bool,
        frame: &Frame,
        redirected: &mut Redirected<'c>,
    ) {
        if field.stream.is_none() && self.path_of(&field.text, frame).class == PathClass::Connection
        {
            redirected.is_connected = true;
            self.connection(&field.text);
        }
        redirected.takes_output |= is_output;
        redirected.targets.push(Target { effect, field, is_output });
    }

    /// Judges what is written. An output that is known to be empty empties its file.
    pub(super) fn write_redirects(
        &mut self,
        redirected: &Redirected<'_>,
        output: &Stream,
        frame: &Frame,
    ) {
        if let Some(span) = redirected.connection.filter(|_| output.is_secret) {
            self.hit(Tier::Irreversible, span, Cause::Shell("sends a secret over a network"));
        }
        for target in &redirected.targets {
            if target.field.stream.is_some() {
                continue;
            }
            if target.field.text.bytes.starts_with(b"-") {
                let reason = "a pattern takes a file of this name for an option";
                self.hit(Tier::Stateful, target.field.text.span, Cause::Shell(reason));
            }
            let effect = match target.effect {
                Effect::Write if target.is_output && output.is_empty() => Effect::Empty,
                effect => effect,
            };
            self.path(effect, &target.field.text, frame);
            let path = self.path_of(&target.field.text, frame);
            if target.is_output && matches!(output.content, Content::Network) {
                self.fetch(path.bytes.clone());
            }
            if target.is_output && path.class != PathClass::Null {
                let is_added = matches!(target.effect, Effect::Append);
                self.make(path.bytes.clone(), output, is_added);
            }
            if path.class == PathClass::Connection && output.is_secret && target.is_output {
                let cause = Cause::Shell("sends a secret over a network");
                self.hit(Tier::Irreversible, target.field.text.span, cause);
            }
        }
    }

    /// Judges a connection that the shell itself opens.
    fn connection(&mut self, text: &Text<'_>) {
        let shown = text.display();
        let mut parts = shown.split('/').skip(3);
        if let Some(host) = parts.next() {
            self.axes.hosts.insert(host.to_owned());
        }
        self.hit(Tier::Reversible, text.span, Cause::Shell("opens a connection"));
    }
}
