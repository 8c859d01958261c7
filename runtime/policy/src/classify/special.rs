//! Builtins that change the shell, and shells.

use std::rc::Rc;

use super::arguments::Call;
use super::call::{Judged, Own};
use super::classifier::{Classifier, Code};
use super::expand::Field;
use super::hit::Cause;
use super::stream::Stream;
use crate::facts::{NodeBit, NodeRow, Role, Special};
use crate::shell::{Folder, Frame, Function};
use crate::span::Span;
use crate::syntax::Assignment;
use crate::tier::{Floor, Tier};

/// Variables that change which code runs even if they are not exported, since a shell has them or uses
/// them itself.
const OWN_VARIABLES: &[&str] = &[
    "PATH",
    "BASH_ENV",
    "ENV",
    "PS4",
    "PROMPT_COMMAND",
    "SHELLOPTS",
    "BASHOPTS",
    "SHELL",
    "CDPATH",
];

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
                frame.folder = match operands.first() {
                    None => Folder::Known([crate::text::HOME].into()),
                    Some(field) if field.spread || &*field.text.bytes == b"-" => Folder::Unknown,
                    Some(field) => self.enter(&field.text, &frame.folder),
                };
                None
            }
            Special::Source => {
                let (file, words) = operands.split_first()?;
                let outer = frame.parameters.clone();
                if !words.is_empty() {
                    frame.parameters =
                        Some(words.iter().map(|field| field.text.clone().owned()).collect());
                }
                self.role(Role::Script, file, judged, frame, own);
                frame.parameters = outer;
                own.has_code = true;
                None
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
                frame.parameters = None;
                None
            }
            Special::Declare => {
                let evaluates = [b"-i", b"-n"].iter().any(|name| self.is_given(judged.call, *name));
                for field in operands {
                    if evaluates {
                        self.evaluate(&field.text, frame);
                    }
                    self.declare(field, frame);
                }
                None
            }
            Special::Alias => {
                for field in operands {
                    let bytes = &*field.text.bytes;
                    let Some(equals) = bytes.iter().position(|byte| *byte == b'=') else {
                        continue;
                    };
                    if let Ok(name) = str::from_utf8(bytes.get(..equals).unwrap_or(&[])) {
                        let body = field.text.after(equals + 1).owned();
                        self.shell.functions.insert(name.to_owned(), Rc::new(Function::new(body)));
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
        if call.operands.is_empty() && call.dashes.is_none() {
            return;
        }
        let is_known = !call.operands.iter().any(|field| field.spread);
        frame.parameters = is_known
            .then(|| call.operands.iter().map(|field| field.text.clone().owned()).collect());
    }

    /// Notes what `export`, `declare` and their like assign.
    fn declare(&mut self, field: &Field<'_>, frame: &mut Frame) {
        let bytes = &*field.text.bytes;
        let equals = bytes.iter().position(|byte| *byte == b'=');
        let end = equals.unwrap_or(bytes.len());
        let name = bytes.get(..end).unwrap_or(bytes);
        let is_append = name.ends_with(b"+");
        let name = name.strip_suffix(b"+").unwrap_or(name);
        let bare = name.split(|byte| *byte == b'[').next().unwrap_or(name);
        if bare.len() < name.len() {
            self.evaluate(&field.text.part(0, end), frame);
        }
        let Some(name) = str::from_utf8(bare).ok().filter(|name| !name.is_empty()) else {
            self.shell.lose();
            return;
        };
        let Some(equals) = equals else { return };
        let value = bytes.get(equals + 1..).unwrap_or(&[]).into();
        let is_known = !field.spread && !is_append && bare.len() == end;
        self.shell.assign(name, is_known.then_some(value));
        let name = name.to_owned();
        self.prompts(&name, bytes.get(equals + 1..), field.text.span, frame);
        self.exported(&name, field.text.place(0, end), true);
    }

    /// Judges a value that the shell expands when it prompts or traces.
    pub(super) fn prompts(
        &mut self,
        name: &str,
        value: Option<&[u8]>,
        span: Span,
        frame: &mut Frame,
    ) {
        let Some(value) = value else { return };
        let text = crate::text::Text::from_span(value.to_vec(), span);
        match name {
            "PS0" | "PS1" | "PS2" | "PS4" => self.late(&text, frame),
            "PROMPT_COMMAND" => {
                self.code(&text, frame, &Stream::default());
            }
            _ => {}
        }
    }

    /// Returns whether a variable of the environment changes no code.
    pub(super) fn is_harmless(&self, name: &str) -> bool {
        !changes_code(name) && self.facts.is_harmless_variable(name)
    }

    /// Notes a variable that programs may see from here on.
    pub(super) fn exported(&mut self, name: &str, span: Span, is_export: bool) {
        let matters = if is_export { !self.is_harmless(name) } else { changes_code(name) };
        if matters && !self.shell.exports.contains(&span) && self.shell.exports.len() < 64 {
            self.shell.exports.push(span);
        }
    }

    /// A program runs: what was exported may change which code that is.
    pub(super) fn exports_reach(&mut self, row: &NodeRow) {
        if row.has(NodeBit::Builtin) || self.shell.exports.is_empty() {
            return;
        }
        for span in std::mem::take(&mut self.shell.exports) {
            self.floor(Floor::OpaqueCode, span, "this variable may change which code runs");
        }
    }

    /// Judges assignments before a command.
    pub(super) fn prefixes(
        &mut self,
        code: &Code<'_>,
        assignments: &[Assignment],
        fields: &[Field<'_>],
    ) {
        if fields.is_empty() {
            return;
        }
        for assignment in assignments {
            let name = code.slice(assignment.name);
            if !self.is_harmless(name) {
                let span = code.place(assignment.name);
                self.floor(Floor::OpaqueCode, span, "this variable may change which code runs");
            }
        }
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
        let (has_code, reads_input) = (self.is_given(call, b"-c"), self.is_given(call, b"-s"));
        let texts = |fields: &[Field<'_>]| {
            let is_known = !fields.iter().any(|field| field.spread);
            is_known.then(|| fields.iter().map(|field| field.text.clone().owned()).collect())
        };
        let mut inner = Frame { wrappers: frame.wrappers + 1, ..frame.clone() };
        match call.operands.split_first() {
            Some((code, words)) if has_code => {
                own.has_code = true;
                // The first word after the code is `$0`.
                inner.parameters = texts(words.get(1..).unwrap_or(&[]));
                if code.spread {
                    self.floor(Floor::UnknownWord, code.text.span, "this code is not literal");
                }
                Some(self.code(&code.text, &inner, judged.input))
            }
            Some((script, words)) if !reads_input => {
                own.has_code = true;
                inner.parameters = texts(words);
                self.role(Role::Script, script, judged, &mut inner, own);
                None
            }
            _ => None,
        }
    }

    /// Returns whether an option of this name is given.
    fn is_given(&self, call: &Call<'_>, name: &[u8]) -> bool {
        let name = self.facts.name_id(name);
        name.is_some() && call.given.iter().any(|given| given.name == name)
    }
}

/// Returns whether a variable of this name changes which code the shell or the loader runs, whatever facts
/// say of it.
#[must_use]
pub fn changes_code(name: &str) -> bool {
    OWN_VARIABLES.contains(&name) || name.starts_with("LD_")
}
