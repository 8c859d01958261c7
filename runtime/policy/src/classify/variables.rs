//! Variables: what `declare`, `export`, `read` and assignments before a command do to them, and which of them change
//! what code runs.

use std::rc::Rc;

use super::arguments::Given;
use super::call::Judged;
use super::classifier::{Classifier, Code};
use super::expand::Field;
use super::stream::{Content, Stream};
use crate::facts::{NodeBit, NodeRow, Role, Special};
use crate::shell::{Frame, Parameters};
use crate::span::Span;
use crate::syntax::Assignment;
use crate::text::{ELEMENT, HOLE, MADE, QUERY, SECRET, TextBuilder, cut_of, part_of};
use crate::tier::Floor;

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

impl Classifier<'_> {
    /// Notes what else is declared of a variable.
    pub(super) fn declared(&mut self, field: &Field<'_>, is_export: bool, is_integer: bool) {
        let bytes = &*field.text.bytes;
        let end = bytes.iter().position(|byte| *byte == b'=').unwrap_or(bytes.len());
        let Ok(name) = str::from_utf8(bytes.get(..end).unwrap_or(bytes)) else { return };
        if is_export {
            if self.shell.is_assigned(name) {
                self.exported(name, field.text.place(0, end), true);
            }
            self.shell.export(name);
        }
        if is_integer {
            self.shell.integers.push(name.to_owned());
        }
    }

    /// Notes what `declare -l` and `-u` do: the variable holds other letters than it is given.
    pub(super) fn recase(&mut self, field: &Field<'_>) {
        let bytes = &*field.text.bytes;
        let end = bytes.iter().position(|byte| *byte == b'=').unwrap_or(bytes.len());
        if let Ok(name) = str::from_utf8(bytes.get(..end).unwrap_or(bytes)) {
            self.shell.assign(name, [MADE].into());
        }
    }

    /// Notes what `declare -n` does: either name stands for the other's value.
    pub(super) fn refer(&mut self, field: &Field<'_>) {
        for name in field.text.bytes.split(|byte| *byte == b'=') {
            match str::from_utf8(name) {
                Ok(name) => self.shell.assign(name, [MADE].into()),
                Err(_) => self.shell.lose(),
            }
        }
    }

    /// Gives variables what `read` and `mapfile` find on standard input.
    pub(super) fn read(&mut self, special: Special, judged: &Judged<'_, '_>, frame: &mut Frame) {
        let call = judged.call;
        // `mapfile -C` runs code with a line of its input.
        for given in call.given.iter().filter(|given| given.flag.role == Role::Shell) {
            let Some(value) = &given.value else { continue };
            let mut code = TextBuilder::new(value.text.span);
            code.push_text(&value.text);
            code.push_made(b" \"$1\"", value.text.span);
            let parameters = Parameters::Made;
            let mut inner = Frame { parameters, ..frame.clone() };
            self.code_here(&code.finish(), &mut inner, &Stream::default());
        }
        let is_array = |given: &Given<'_>| given.flag.role == Role::Name;
        let array = call.given.iter().find(|given| is_array(given));
        let names: Vec<&Field<'_>> = match array.and_then(|given| given.value.as_ref()) {
            Some(name) => vec![name],
            None => call.operands.iter().collect(),
        };
        for name in &names {
            self.evaluate(&name.text, frame);
        }
        let names: Vec<String> = match names.as_slice() {
            [] if special == Special::Read => vec!["REPLY".to_owned()],
            [] => vec!["MAPFILE".to_owned()],
            names => names.iter().map(|name| name.text.display().into_owned()).collect(),
        };
        let text = match &judged.input.content {
            Content::Literal(text) => Rc::clone(text),
            content => {
                let mark = match content {
                    Content::Made => MADE,
                    _ if judged.input.is_secret => SECRET,
                    _ => HOLE,
                };
                for name in &names {
                    self.assign_read(name, call.span, frame, vec![mark]);
                }
                return;
            }
        };
        if !self.step(names.len() * text.bytes.len() / 64, call.span) {
            return;
        }
        let lines = text.bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        if special == Special::ReadLines || array.is_some() {
            let words: Vec<&[u8]> = match special {
                Special::ReadLines => lines.collect(),
                _ => lines.flat_map(|line| self.shell.pieces(line)).collect(),
            };
            for name in &names {
                self.assign_read(name, call.span, frame, words.join(&ELEMENT));
            }
            return;
        }
        for line in lines {
            let pieces = self.shell.pieces(line);
            for (at, name) in names.iter().enumerate() {
                let rest = pieces.get(at).copied().unwrap_or(b"");
                let is_last = at + 1 == names.len();
                // The last name takes what is left of the line.
                let end = if is_last { line.len() } else { offset(line, rest) + rest.len() };
                let value = line.get(offset(line, rest)..end).unwrap_or(rest);
                self.assign_read(
                    name,
                    call.span,
                    frame,
                    if rest.is_empty() { Vec::new() } else { value.to_vec() },
                );
                if self.shell.has_separators() {
                    self.assign_read(name, call.span, frame, cut_of(line));
                }
            }
        }
    }

    fn assign_read(&mut self, name: &str, span: Span, frame: &mut Frame, value: Vec<u8>) {
        self.exported(name, span, false);
        self.prompts(name, &value, span, frame);
        let bare = name.split('[').next().unwrap_or(name);
        let value = if bare.len() < name.len() { cut_of(&value) } else { value };
        self.shell.assign(bare, value.into());
    }

    /// Notes what `export`, `declare` and their like assign.
    pub(super) fn declare(&mut self, field: &Field<'_>, is_local: bool, frame: &mut Frame) {
        let bytes = &*field.text.bytes;
        let equals = bytes.iter().position(|byte| *byte == b'=');
        let end = equals.unwrap_or(bytes.len());
        let name = bytes.get(..end).unwrap_or(bytes);
        let is_append = name.ends_with(b"+");
        let name = name.strip_suffix(b"+").unwrap_or(name);
        // Outside of quotes a bracket begins a pattern.
        let bare = name.split(|byte| matches!(*byte, b'[' | QUERY)).next().unwrap_or(name);
        if bare.len() < name.len() {
            self.evaluate(&field.text.part(0, end), frame);
        }
        let Some(name) = str::from_utf8(bare).ok().filter(|name| !name.is_empty()) else {
            self.shell.lose();
            return;
        };
        let Some(equals) = equals else {
            // A variable of a function has no value at first.
            if is_local {
                self.shell.assign(name, [].into());
            }
            return;
        };
        let value = bytes.get(equals + 1..).unwrap_or(&[]).into();
        let is_known = !field.spread && !is_append && bare.len() == end;
        let value: Rc<[u8]> = value;
        // `declare -a 'X=(…)'` reads the text as the elements, once more.
        if value.starts_with(b"(") && !value.contains(&ELEMENT) {
            self.late(&field.text.after(equals + 1), frame);
            self.shell.assign(name, cut_of(&value).into());
        }
        match is_known {
            true => self.shell.set(name, value),
            false => self.shell.assign(name, part_of(&value).into()),
        }
        let name = name.to_owned();
        self.prompts(&name, bytes.get(equals + 1..).unwrap_or(&[]), field.text.span, frame);
        self.exported(&name, field.text.place(0, end), !is_local);
    }

    /// Judges a value that the shell expands when it prompts or traces.
    pub(super) fn prompts(&mut self, name: &str, value: &[u8], span: Span, frame: &mut Frame) {
        if !matches!(name, "PS0" | "PS1" | "PS2" | "PS4" | "PROMPT_COMMAND") {
            return;
        }
        let text = crate::text::Text::from_span(value.to_vec(), span);
        match name {
            "PROMPT_COMMAND" => {
                let mut inner = frame.clone();
                self.code_here(&text, &mut inner, &Stream::default());
            }
            _ => self.late(&text, frame),
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
}

/// Returns where a part of a text begins in it.
fn offset(whole: &[u8], part: &[u8]) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize)
}

/// Returns whether a variable of this name changes which code the shell or the loader runs, whatever facts
/// say of it.
#[must_use]
pub fn changes_code(name: &str) -> bool {
    OWN_VARIABLES.contains(&name) || name.starts_with("LD_")
}
