//! What operands and values of options do, by their role.

use std::rc::Rc;

use super::call::{Judged, Own};
use super::classifier::Classifier;
use super::expand::Field;
use super::hit::{Cause, Effect, note};
use super::mount::mount;
use super::output::formatted;
use super::special::shell_dialect;
use super::stream::{Content, Stream};
use crate::code;
use crate::facts::{NodeBit, Output, Role, Special};
use crate::paths;
use crate::shell::{Dialect, Frame};
use crate::text::{MADE, OUTPUT, SECRET, Text, TextBuilder, may_be_option};
use crate::tier::{Floor, Tier};

impl Role {
    /// Returns whether it is code or a program to run.
    pub(super) fn is_code(self) -> bool {
        self.takes_rest()
            || self.is_language()
            || matches!(self, Self::Script | Self::Shell | Self::RemoteShell | Self::EndedCommand)
    }

    /// Returns whether it takes all words that follow.
    pub const fn takes_rest(self) -> bool {
        matches!(
            self,
            Self::Command
                | Self::EnvironmentCommand
                | Self::EachCommand
                | Self::ParallelCommand
                | Self::ShellWords
        )
    }

    /// Returns whether it is code of another language.
    pub(super) const fn is_language(self) -> bool {
        matches!(
            self,
            Self::Sql
                | Self::Sed
                | Self::Awk
                | Self::Crontab
                | Self::Python
                | Self::Perl
                | Self::Ruby
                | Self::Javascript
                | Self::Php
                | Self::Code
        )
    }

    /// Returns whether it is a path, of which the path itself decides.
    pub(super) const fn is_path(self) -> bool {
        matches!(
            self,
            Self::Read
                | Self::Write
                | Self::Append
                | Self::Remove
                | Self::Empty
                | Self::Change
                | Self::ChangeTree
                | Self::Take
                | Self::RemoteRead
                | Self::RemoteWrite
        )
    }

    /// Returns whether it is code that can run any program.
    pub(super) const fn is_shell_code(self) -> bool {
        matches!(
            self,
            Self::Shell
                | Self::Crontab
                | Self::Python
                | Self::Perl
                | Self::Ruby
                | Self::Javascript
                | Self::Php
                | Self::Code
        )
    }
}

impl Classifier<'_> {
    /// Judges a value by its role.
    pub(super) fn role(
        &mut self,
        role: Role,
        field: &Field<'_>,
        judged: &Judged<'_, '_>,
        frame: &mut Frame,
        own: &mut Own,
    ) {
        let text = &field.text;
        match role {
            Role::Text | Role::Folder | Role::Placeholder => {}
            // Standard input or output.
            Role::Read | Role::Write | Role::Append if &*text.bytes == b"-" => {}
            Role::Read => self.own_read(field, frame, own),
            Role::Write => {
                own.written.push(paths::normalised(&text.bytes, &frame.folder));
                self.own_path(Effect::Write, text, frame, own);
            }
            Role::Append => self.own_path(Effect::Append, text, frame, own),
            Role::Remove => self.own_path(Effect::Remove, text, frame, own),
            Role::Empty => self.own_path(Effect::Empty, text, frame, own),
            Role::Change => self.own_path(Effect::Change, text, frame, own),
            Role::ChangeTree => self.own_path(Effect::ChangeTree, text, frame, own),
            Role::Take => self.own_path(Effect::Take, text, frame, own),
            Role::Script => self.script(field, judged, frame, own),
            Role::Config => {
                if &*text.bytes != b"/dev/null" {
                    self.floor(Floor::OpaqueCode, text.span, "it loads another configuration");
                }
            }
            Role::Shell => {
                let dialect = match judged.node.special {
                    Special::Shell => shell_dialect(judged.name),
                    _ if judged.node.has(NodeBit::Builtin) => frame.dialect,
                    _ => Dialect::Other,
                };
                self.code(text, &Frame { dialect, ..frame.clone() }, judged.input);
            }
            Role::RemoteShell => self.remote_shell(text, frame),
            Role::Secret => own.secret = true,
            Role::Command
            | Role::EnvironmentCommand
            | Role::EachCommand
            | Role::EndedCommand
            | Role::ParallelCommand
            | Role::ShellWords => {
                self.words(role, std::slice::from_ref(field), judged, frame, own);
            }
            Role::Sql
            | Role::Sed
            | Role::Awk
            | Role::Crontab
            | Role::Python
            | Role::Perl
            | Role::Ruby
            | Role::Javascript
            | Role::Php
            | Role::Code => self.language(role, field, frame, own),
            Role::Arithmetic => self.evaluate(text, frame),
            Role::Name => self.name(text, judged, frame),
            Role::Environment => self.environment(text),
            Role::Host => self.host(field, own),
            Role::Url => self.url(field, frame, own),
            Role::RemoteRead => match remote(&text.bytes) {
                Some(host) => {
                    self.axes.hosts.insert(String::from_utf8_lossy(host).into_owned());
                }
                None => self.own_read(field, frame, own),
            },
            Role::RemoteWrite => match remote(&text.bytes) {
                Some(host) => {
                    self.axes.hosts.insert(String::from_utf8_lossy(host).into_owned());
                    own.sends = Some(text.span);
                    own.hit(Tier::Stateful, text.span, Cause::Shell("writes to another host"));
                }
                None => self.own_path(Effect::Write, text, frame, own),
            },
            Role::Send => self.send(field, judged.input, frame, own),
            Role::SendFile => {
                if &*text.bytes == b"-" {
                    own.secret |= judged.input.is_secret;
                } else {
                    self.own_read(field, frame, own);
                }
                own.sends = Some(text.span);
            }
            Role::Refspec => refspec(text, own),
            Role::Revision => revision(field, judged, own),
            Role::Process => process(text, own),
            Role::Mount => mount(text, own),
            Role::Mode => mode(text, own),
            Role::User => {
                note(&mut self.axes.privilege, &text.display());
            }
        }
    }

    fn own_read(&mut self, field: &Field<'_>, frame: &Frame, own: &mut Own) {
        if let Some(stream) = &field.stream {
            own.secret |= stream.is_secret;
            return;
        }
        let path = self.reads(&field.text, frame);
        own.secret |= path.is_secret;
        own.makes |= self.is_made(&path.bytes);
    }

    /// Judges a file with code.
    fn script(
        &mut self,
        field: &Field<'_>,
        judged: &Judged<'_, '_>,
        frame: &mut Frame,
        own: &mut Own,
    ) {
        let bytes = &*field.text.bytes;
        let is_input = matches!(bytes, b"-" | b"/dev/stdin" | b"/dev/fd/0" | b"/proc/self/fd/0");
        let stream = match &field.stream {
            Some(stream) => Some((**stream).clone()),
            None if is_input => Some(judged.input.clone()),
            None => None,
        };
        let language = match judged.node.stdin {
            Role::Text => Role::Shell,
            language => language,
        };
        let span = field.text.span;
        match stream.map(|stream| stream.content) {
            Some(Content::Literal(text)) => {
                let field = Field::new((*text).clone());
                self.role(language, &field, judged, frame, own);
            }
            Some(Content::Network) => {
                self.hit(Tier::Irreversible, span, Cause::Shell("runs code from a network"));
            }
            Some(Content::Opaque | Content::Made) => {
                self.floor(Floor::UnknownWord, span, "it runs code that the text does not show");
            }
            Some(Content::Terminal | Content::File) | None => {
                if bytes.starts_with(b"/dev/fd/") || bytes.starts_with(b"/proc/self/fd/") {
                    let reason = "it runs code from a descriptor, which the text does not show";
                    self.floor(Floor::UnknownWord, span, reason);
                }
                let path = self.reads(&field.text, frame);
                if self.is_fetched(&path.bytes) {
                    let cause = Cause::Shell("runs code from a network");
                    self.hit(Tier::Irreversible, span, cause);
                }
                if self.is_made(&path.bytes) && self.made_texts(&path.bytes).is_empty() {
                    let reason = "it runs code that the text makes and does not show";
                    self.floor(Floor::UnknownWord, span, reason);
                }
                for text in self.made_texts(&path.bytes) {
                    let field = Field::new((*text).clone());
                    self.role(language, &field, judged, frame, own);
                }
                let tier = self.rules.floors.tier(Floor::OpaqueCode);
                let reason = "it runs code that the text does not show";
                own.hit(tier, span, Cause::Floor { floor: Floor::OpaqueCode, reason });
            }
        }
    }

    /// Judges a remote shell: its words with a host and a command that does nothing.
    fn remote_shell(&mut self, text: &Text<'_>, frame: &Frame) {
        let mut code = TextBuilder::new(text.span);
        code.push_text(text);
        code.push_made(b" localhost true", text.span);
        let known = self.axes.hosts.contains("localhost");
        let inner = Frame { dialect: Dialect::Other, ..frame.clone() };
        self.code(&code.finish(), &inner, &Stream::of(Content::Opaque));
        if !known {
            self.axes.hosts.remove("localhost");
        }
    }

    /// Judges code of another language.
    fn language(&mut self, role: Role, field: &Field<'_>, frame: &mut Frame, own: &mut Own) {
        let text = &field.text;
        own.makes |= role.is_shell_code();
        if text.has_hole() && role.is_shell_code() {
            self.floor(Floor::UnknownWord, text.span, "this code is not literal");
        }
        let findings = match role {
            Role::Sql => code::sql::findings(&text.bytes),
            Role::Sed => code::sed::findings(&text.bytes),
            Role::Awk => code::awk::findings(&text.bytes),
            Role::Crontab => code::crontab::findings(&text.bytes),
            _ => code::language::findings(role, &text.bytes, self.facts),
        };
        for finding in findings {
            let span = text.place(finding.start, finding.end);
            match finding.what {
                code::What::Tier(tier, reason) => own.hit(tier, span, Cause::Code(role, reason)),
                code::What::Opaque(reason) => self.floor(Floor::OpaqueCode, span, reason),
                code::What::Unknown(reason) => self.floor(Floor::UnknownWord, span, reason),
                code::What::Writes => {
                    let path = text.part(finding.start, finding.end);
                    self.own_path(Effect::Write, &path, frame, own);
                }
                code::What::Shell => {
                    let code = text.part(finding.start, finding.end);
                    let inner = Frame { dialect: Dialect::Other, ..frame.clone() };
                    self.code(&code, &inner, &Stream::default());
                }
                code::What::Fed => {
                    let code = text.part(finding.start, finding.end);
                    let inner = Frame { dialect: Dialect::Other, ..frame.clone() };
                    self.code(&code, &inner, &Stream::of(Content::Opaque));
                }
                code::What::Words => {
                    let words = quoted_words(&text.part(finding.start, finding.end));
                    let mut inner = frame.clone();
                    self.run(&words, &mut inner, &Stream::default());
                }
            }
        }
    }

    /// Judges the name of a variable that a builtin sets or tests.
    fn name(&mut self, text: &Text<'_>, judged: &Judged<'_, '_>, frame: &mut Frame) {
        let bytes = &*text.bytes;
        let value: Rc<[u8]> = match judged.node.output {
            Output::Format => match formatted(judged.call) {
                Some(text) => text.bytes.as_ref().into(),
                None => [MADE].into(),
            },
            _ => {
                let mut given = judged.call.operands.iter().skip(2);
                let is_option = given.any(|field| may_be_option(&field.text.bytes));
                [if is_option { MADE } else { frame.parameters.mark() }].into()
            }
        };
        let end = bytes.iter().position(|byte| *byte == b'[').unwrap_or(bytes.len());
        match str::from_utf8(bytes.get(..end).unwrap_or(bytes)) {
            Ok(name) if !name.is_empty() => {
                self.exported(name, text.span, false);
                self.prompts(name, &value, text.span, frame);
                self.shell.assign(name, Rc::clone(&value));
                // `getopts` sets it too.
                self.shell.assign("OPTARG", value);
            }
            _ => self.shell.lose(),
        }
        if end < bytes.len() {
            self.evaluate(text, frame);
        }
    }

    /// Judges `NAME=value` for the environment of a program.
    pub(super) fn environment(&mut self, text: &Text<'_>) {
        let bytes = &*text.bytes;
        let end = bytes.iter().position(|byte| *byte == b'=').unwrap_or(bytes.len());
        let is_harmless = str::from_utf8(bytes.get(..end).unwrap_or(bytes))
            .is_ok_and(|name| self.is_harmless(name));
        if !is_harmless {
            self.floor(
                Floor::OpaqueCode,
                text.place(0, end),
                "this variable may change which code runs",
            );
        }
        if let Ok(name) = str::from_utf8(bytes.get(..end).unwrap_or(bytes)) {
            let value = bytes.get(end + 1..).unwrap_or(&[]).into();
            self.shell.assign(name, value);
            self.shell.export(name);
        }
    }

    fn host(&mut self, field: &Field<'_>, own: &mut Own) {
        self.leaks(field, own);
        let shown = field.text.display();
        let host = shown.rsplit('@').next().unwrap_or(&shown);
        note(&mut self.axes.hosts, host);
    }

    fn url(&mut self, field: &Field<'_>, frame: &Frame, own: &mut Own) {
        self.leaks(field, own);
        let shown = field.text.display();
        if shown.contains(' ') {
            // `URL POST data`, as load generators take it.
            let cause = Cause::Shell("sends more than the address that it asks");
            own.hit(Tier::Stateful, field.text.span, cause);
        }
        let rest = shown.split_once("://").map_or(&*shown, |(_, rest)| rest);
        if shown.starts_with("file://") {
            let path = field.text.after("file://".len());
            own.secret |= self.reads(&path, frame).is_secret;
            return;
        }
        // A download without a name for it has that of the address.
        let path = rest.split(['?', '#']).next().unwrap_or(rest);
        if let Some((_, name)) = path.rsplit_once('/').filter(|(_, name)| !name.is_empty()) {
            own.written.push(paths::normalised(name.as_bytes(), &frame.folder));
        }
        let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        let host = host.rsplit('@').next().unwrap_or(host);
        let host = host.split(':').next().unwrap_or(host);
        self.axes.hosts.insert(host.to_owned());
    }

    /// Judges output of other commands in what a host gets to see.
    fn leaks(&mut self, field: &Field<'_>, own: &mut Own) {
        let span = field.text.span;
        let bytes = &field.text.bytes;
        if bytes.contains(&SECRET) {
            own.hit(Tier::Irreversible, span, Cause::Shell("sends a secret over a network"));
        } else if bytes.contains(&OUTPUT) {
            own.hit(Tier::Stateful, span, Cause::Shell("sends the output of another command"));
        }
    }

    /// Judges data that is sent.
    fn send(&mut self, field: &Field<'_>, input: &Stream, frame: &Frame, own: &mut Own) {
        own.sends = Some(field.text.span);
        own.secret |= field.text.bytes.contains(&SECRET);
        let bytes = &*field.text.bytes;
        let Some(at) = bytes.iter().position(|byte| *byte == b'@') else { return };
        let path = field.text.after(at + 1);
        if &*path.bytes == b"-" {
            own.secret |= input.is_secret;
        } else {
            own.secret |= self.reads(&path, frame).is_secret;
        }
    }
}

/// Returns the host of `HOST:PATH`; `None` for a local path.
fn remote(bytes: &[u8]) -> Option<&[u8]> {
    let colon = bytes.iter().position(|byte| *byte == b':')?;
    let host = bytes.get(..colon)?;
    if host.is_empty() || host.contains(&b'/') {
        return None;
    }
    let at = host.iter().rposition(|byte| *byte == b'@').map_or(0, |at| at + 1);
    host.get(at..)
}

fn refspec(text: &Text<'_>, own: &mut Own) {
    let reason = match text.bytes.first() {
        Some(&(b'+' | MADE)) => "rewrites the history of a remote branch",
        Some(b':') => "deletes a remote branch or tag",
        _ => return,
    };
    own.hit(Tier::Irreversible, text.span, Cause::Shell(reason));
}

/// Judges what a checkout takes: a revision, or paths whose changes are dropped.
fn revision(field: &Field<'_>, judged: &Judged<'_, '_>, own: &mut Own) {
    let text = &field.text;
    let bytes = &*text.bytes;
    let is_path = judged.call.dashes.is_some_and(|dashes| {
        let before = judged.call.operands.get(..dashes).unwrap_or(&[]);
        !before.as_ptr_range().contains(&std::ptr::from_ref(field))
    });
    let is_folder = matches!(bytes, b"." | b"./" | b":/" | b"*" | b"..") || bytes.ends_with(b"/");
    let is_pattern = bytes.iter().any(|byte| matches!(*byte, crate::text::STAR | b'*'));
    let name = bytes.rsplit(|byte| *byte == b'/').next().unwrap_or(bytes);
    let extension = name.iter().rposition(|byte| *byte == b'.').and_then(|dot| name.get(dot + 1..));
    let is_file = extension.is_some_and(|extension| {
        (1..=5).contains(&extension.len()) && extension.iter().all(u8::is_ascii_alphabetic)
    });
    if is_folder || is_pattern {
        own.hit(Tier::Irreversible, text.span, Cause::Shell("drops changes that are nowhere else"));
    } else if is_path || is_file {
        own.hit(Tier::Stateful, text.span, Cause::Shell("drops the changes of this file"));
    }
}

fn process(text: &Text<'_>, own: &mut Own) {
    let reason = match &*text.bytes {
        b"-1" => "ends every process",
        b"1" => "ends the first process of the host",
        [MADE, ..] => "ends processes that are not shown",
        _ => return,
    };
    own.hit(Tier::Irreversible, text.span, Cause::Shell(reason));
}

fn mode(text: &Text<'_>, own: &mut Own) {
    let bytes = &*text.bytes;
    if bytes.contains(&MADE) {
        own.hit(Tier::Irreversible, text.span, Cause::Shell("gives a mode that is not shown"));
    }
    let is_octal = !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit);
    let gives = if is_octal {
        bytes.len() >= 4 && matches!(bytes.get(bytes.len() - 4), Some(b'2'..=b'7'))
    } else {
        bytes.split(|byte| *byte == b',').any(|clause| {
            let sign = clause.iter().position(|byte| matches!(byte, b'+' | b'='));
            sign.is_some_and(|at| clause.get(at..).unwrap_or(&[]).contains(&b's'))
        })
    };
    if gives {
        let reason = "lets others run it with its owner's rights";
        own.hit(Tier::Irreversible, text.span, Cause::Shell(reason));
    }
}

/// Returns the texts between quotes as words.
fn quoted_words<'t>(text: &Text<'t>) -> Vec<Field<'t>> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.bytes.get(at).copied() {
        at += 1;
        if !matches!(byte, b'\'' | b'"') {
            continue;
        }
        let rest = text.bytes.get(at..).unwrap_or(&[]);
        let length = rest.iter().position(|other| *other == byte).unwrap_or(rest.len());
        words.push(Field::new(text.part(at, at + length)));
        at += length + 1;
    }
    words
}
