//! Builtins that change the shell, and shells.

use std::rc::Rc;

use super::arguments::{Call, Given};
use super::call::{Judged, Own};
use super::classifier::{Classifier, Code};
use super::expand::Field;
use super::hit::Cause;
use super::stream::{Content, Stream};
use crate::facts::{NodeBit, NodeRow, Role, Special};
use crate::shell::{Dialect, Folder, Frame, Parameters};
use crate::span::Span;
use crate::syntax::Assignment;
use crate::text::{
    ELEMENT, HOLE, HOME, MADE, QUERY, SECRET, Text, TextBuilder, cut_of, may_be_option, part_of,
};
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
                    if let Ok(name) = name {
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

    /// Notes what else is declared of a variable.
    fn declared(&mut self, field: &Field<'_>, is_export: bool, is_integer: bool) {
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

    /// Returns the folder that a word names.
    fn folder(&mut self, field: &Field<'_>, frame: &Frame) -> Folder {
        // `-` is the folder before, `+1` one of a stack.
        let is_relative = matches!(field.text.bytes.first(), Some(b'-' | b'+'));
        if field.spread || is_relative {
            return Folder::Unknown;
        }
        self.enter(&field.text, &frame.folder)
    }

    /// Notes what `declare -n` does: either name stands for the other's value.
    fn refer(&mut self, field: &Field<'_>) {
        for name in field.text.bytes.split(|byte| *byte == b'=') {
            match str::from_utf8(name) {
                Ok(name) => self.shell.assign(name, [MADE].into()),
                Err(_) => self.shell.lose(),
            }
        }
    }

    /// Gives variables what `read` and `mapfile` find on standard input.
    fn read(&mut self, special: Special, judged: &Judged<'_, '_>, frame: &mut Frame) {
        let call = judged.call;
        // `mapfile -C` runs code with a line of its input.
        for given in call.given.iter().filter(|given| given.flag.role == Role::Shell) {
            let Some(value) = &given.value else { continue };
            let mut code = TextBuilder::new(value.text.span);
            code.push_text(&value.text);
            code.push_made(&[b' ', MADE], value.text.span);
            self.code_here(&code.finish(), &mut frame.clone(), &Stream::default());
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
    fn declare(&mut self, field: &Field<'_>, is_local: bool, frame: &mut Frame) {
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
        self.shell.assign(name, if is_known { value } else { part_of(&value).into() });
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

/// Returns words as positional parameters.
pub(super) fn parameters(words: &[Field<'_>]) -> Parameters {
    if !words.iter().any(|field| field.spread) {
        return Parameters::Known(words.iter().map(|field| field.text.clone().owned()).collect());
    }
    let is_option = words.iter().any(|field| may_be_option(&field.text.bytes));
    if is_option { Parameters::Made } else { Parameters::Outside }
}

/// Returns parameters without the first of them.
fn shifted(parameters: &Parameters, operands: &[Field<'_>]) -> Parameters {
    let count = match operands {
        [] => Some(1),
        [count] => str::from_utf8(&count.text.bytes).ok().and_then(|count| count.parse().ok()),
        _ => None,
    };
    match (parameters, count) {
        (Parameters::Known(all), Some(count)) => {
            Parameters::Known(all.get(count..).unwrap_or(all).into())
        }
        (parameters, _) => parameters.lost(),
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
