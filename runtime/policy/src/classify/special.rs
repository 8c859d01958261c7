//! Builtins that change the shell, and shells.

use std::rc::Rc;

use super::arguments::{Call, Given};
use super::call::{Judged, Own};
use super::classifier::{Classifier, READING_STEPS};
use super::expand::Field;
use super::hit::Cause;
use super::run::{parameters, shifted};
use super::stream::{Content, Stream};
use crate::facts::{Role, Special};
use crate::shell::{Dialect, Folder, Frame};
use crate::span::Span;
use crate::text::{HOME, Text, TextBuilder};
use crate::tier::{Floor, Tier};

impl Special {
    /// Returns whether it says itself what its operands are.
    pub(super) const fn takes_operands(self) -> bool {
        !matches!(self, Self::Nothing)
    }
}

impl Classifier<'_> {
    /// Does what a special program does; returns what it writes if that is known.
    pub(super) fn special(
        &mut self,
        special: Special,
        judged: &Judged<'_, '_>,
        frame: &mut Frame,
        own: &mut Own,
    ) -> Option<Stream> {
        let operands = &judged.call.operands;
        match special {
            Special::Nothing => None,
            Special::ChangeFolder => {
                let home = || Folder::Known([HOME].into());
                frame.folder = match operands.first() {
                    None if self.shell.is_assigned("HOME") => Folder::Unknown,
                    None => home(),
                    Some(field) => self.folder(field, frame),
                };
                self.traps_in(frame);
                None
            }
            Special::PushFolder => {
                let left = frame.folder.clone();
                frame.folder = match operands.first() {
                    None => frame.stack.pop().unwrap_or(Folder::Unknown),
                    Some(field) => self.folder(field, frame),
                };
                if frame.stack.len() < FOLDERS_MAX {
                    frame.stack.push(left);
                } else {
                    frame.stack.clear();
                }
                self.traps_in(frame);
                None
            }
            Special::PopFolder => {
                let is_top = operands.is_empty() && judged.call.given.is_empty();
                let top = frame.stack.pop().filter(|_| is_top);
                frame.folder = top.unwrap_or(Folder::Unknown);
                if !is_top {
                    frame.stack.clear();
                }
                None
            }
            Special::Direct => {
                own.has_code = true;
                let only_looks =
                    self.is_given(judged.call, b"-v") || self.is_given(judged.call, b"-V");
                let runs = !operands.is_empty() && !only_looks;
                runs.then(|| self.run_program(operands, frame, judged.input))
            }
            Special::Trap => {
                let only_prints = self.is_given(judged.call, b"-p");
                let [code, _, ..] = operands.as_slice() else { return None };
                // `-` takes a trap away.
                if only_prints || &*code.text.bytes == b"-" {
                    return None;
                }
                let mark = self.shell.enter();
                self.shell.traps.push(code.text.clone().owned());
                let mut inner = frame.clone();
                self.code_here(&code.text, &mut inner, &Stream::of(Content::Opaque));
                self.shell.leave(mark);
                own.has_code = true;
                None
            }
            Special::Source => {
                let (file, words) = operands.split_first()?;
                let outer = frame.parameters.clone();
                if !words.is_empty() {
                    frame.parameters = parameters(words);
                }
                let is_input = matches!(&*file.text.bytes, b"-" | b"/dev/stdin" | b"/dev/fd/0");
                let stream = match &file.stream {
                    Some(stream) => Some(&**stream),
                    None => is_input.then_some(judged.input),
                };
                let output = match stream.map(|stream| &stream.content) {
                    Some(Content::Literal(text)) => {
                        let text = Rc::clone(text);
                        Some(self.code_here(&text, frame, &Stream::default()))
                    }
                    _ => {
                        self.role(Role::Script, file, judged, frame, own);
                        None
                    }
                };
                frame.parameters = outer;
                own.has_code = true;
                output
            }
            Special::Eval => {
                own.has_code = true;
                let code = Self::join_words(operands)?;
                Some(self.code_here(&code, frame, judged.input))
            }
            Special::Set => {
                self.set(judged, frame);
                None
            }
            Special::Shift => {
                frame.parameters = shifted(&frame.parameters, operands);
                None
            }
            Special::Read | Special::ReadLines => {
                self.read(special, judged, frame);
                None
            }
            Special::Declare | Special::Export => {
                let is_export = special == Special::Export || self.is_given(judged.call, b"-x");
                let is_reference = self.is_given(judged.call, b"-n");
                let evaluates = is_reference || self.is_given(judged.call, b"-i");
                let recases = [b"-l", b"-u"].iter().any(|name| self.is_given(judged.call, *name));
                let is_integer = self.is_given(judged.call, b"-i");
                for field in operands {
                    if evaluates {
                        self.evaluate(&field.text, frame);
                    }
                    self.declare(field, special == Special::Declare, frame);
                    self.declared(field, is_export, is_integer);
                    if is_reference {
                        self.refer(field);
                    }
                    if recases {
                        self.recase(field);
                    }
                }
                None
            }
            Special::Alias => {
                for field in operands {
                    let bytes = &*field.text.bytes;
                    let Some(equals) = bytes.iter().position(|byte| *byte == b'=') else {
                        continue;
                    };
                    let name = str::from_utf8(bytes.get(..equals).unwrap_or(&[]));
                    // Where `[[` is a program, it is taken for one that fails without its `]]`.
                    if !frame.dialect.is_bash() && name.is_ok_and(|name| name == "[[") {
                        let span = field.text.span;
                        self.floor(Floor::UnknownWord, span, "this alias is a word of the shell");
                    }
                    if let Ok(name) = name
                        && self.step(READING_STEPS, field.text.span)
                    {
                        let body = aliased(&field.text.after(equals + 1));
                        self.shell.define(name, body, true);
                    }
                }
                None
            }
            Special::Shell => self.shell_program(judged, frame, own),
        }
    }

    /// Sets the positional parameters.
    fn set(&mut self, judged: &Judged<'_, '_>, frame: &mut Frame) {
        let call = judged.call;
        self.shell.exports_all |= self.is_given(call, b"-a");
        if self.is_given(call, b"-k") {
            let reason = "words of a command may be variables from here on";
            self.floor(Floor::OpaqueCode, call.span, reason);
        }
        if call.operands.is_empty() && call.dashes.is_none() {
            return;
        }
        // `set - WORDS` sets the words after the dash.
        let words = match call.operands.split_first() {
            Some((dash, rest)) if &*dash.text.bytes == b"-" && call.dashes.is_none() => {
                if rest.is_empty() {
                    return;
                }
                rest
            }
            _ => &call.operands,
        };
        frame.parameters = parameters(words);
    }

    /// Returns the folder that a word names.
    fn folder(&mut self, field: &Field<'_>, frame: &Frame) -> Folder {
        // `-` is the folder before, `+1` one of a stack.
        let is_relative = matches!(field.text.bytes.first(), Some(b'-' | b'+'));
        if field.spread || is_relative {
            return Folder::Unknown;
        }
        self.enter(&field.text, &frame.folder)
    }

    /// Judges a shell: `-c` code with its arguments, a script, or standard input.
    fn shell_program(
        &mut self,
        judged: &Judged<'_, '_>,
        frame: &mut Frame,
        own: &mut Own,
    ) -> Option<Stream> {
        let call = judged.call;
        if frame.is_connected {
            let reason = "gives a shell to a remote party";
            self.hit(Tier::Irreversible, call.span, Cause::Shell(reason));
        }
        if let Some(first) =
            call.operands.first().filter(|first| first.text.bytes.starts_with(b"+"))
            && call.dashes.is_none()
        {
            self.floor(Floor::UnknownWord, first.text.span, "no fact declares this option");
        } else if self.runs_nothing(call) {
            own.has_code = true;
            return None;
        }
        own.uncap();
        let (has_code, reads_input) = (self.is_given(call, b"-c"), self.is_given(call, b"-s"));
        let dialect = shell_dialect(judged.name);
        let mut inner = Frame { wrappers: frame.wrappers + 1, dialect, ..frame.clone() };
        match call.operands.split_first() {
            Some((code, words)) if has_code => {
                own.has_code = true;
                // The first word after the code is `$0`.
                inner.zero = words.first().map(|name| Rc::new(name.text.clone().owned()));
                inner.parameters = parameters(words.get(1..).unwrap_or(&[]));
                if code.spread {
                    self.floor(Floor::UnknownWord, code.text.span, "this code is not literal");
                }
                Some(self.code(&code.text, &inner, judged.input))
            }
            Some((script, words)) if !reads_input => {
                own.has_code = true;
                inner.parameters = parameters(words);
                self.role(Role::Script, script, judged, &mut inner, own);
                None
            }
            operands => {
                let words = operands.map(|_| call.operands.as_slice()).unwrap_or_default();
                own.parameters = Some(parameters(words));
                None
            }
        }
    }

    /// Returns whether a shell only checks its code: the last of `-n` and `+n` decides.
    fn runs_nothing(&self, call: &Call<'_>) -> bool {
        let is_name = |given: &Given<'_>, name: &[u8]| {
            given.name.is_some() && given.name == self.facts.name_id(name)
        };
        let mut is_checked = false;
        for given in &call.given {
            if given.flag.cap == Some(Tier::ReadOnly) && given.is_whole {
                is_checked = true;
            } else if [b"+n".as_slice(), b"+o", b"-i"].iter().any(|name| is_name(given, name)) {
                is_checked = false;
            }
        }
        is_checked && !call.has_unknown && !call.is_lost
    }

    /// Returns whether an option of this name is given.
    fn is_given(&self, call: &Call<'_>, name: &[u8]) -> bool {
        let name = self.facts.name_id(name);
        name.is_some() && call.given.iter().any(|given| given.name == name)
    }
}

/// How many folders `pushd` remembers.
const FOLDERS_MAX: usize = 16;

/// Returns the text of an alias as the body of a function: the words of a call follow it.
fn aliased(text: &Text<'_>) -> Text<'static> {
    let mut builder = TextBuilder::new(text.span);
    builder.push_text(text);
    let end = Span { start: text.span.end, end: text.span.end };
    builder.push_made(b" \"$@\"", end);
    builder.finish()
}

/// Returns which shell a program of this name is.
pub(super) fn shell_dialect(name: &[u8]) -> Dialect {
    match name {
        b"bash" | b"rbash" => Dialect::Bash,
        // It has all that of bash which other shells read otherwise.
        b"zsh" => Dialect::OtherAsBash,
        _ => Dialect::Other,
    }
}
