//! `$name`, `${name…}` and positional parameters: their values in one reading.

use std::rc::Rc;

use super::classifier::{Classifier, Code, READINGS_MAX};
use super::expand::{Choice, Fields};
use crate::shell::{Frame, Held, Parameters};
use crate::span::Span;
use crate::syntax::{Operation, Parameter, Part};
use crate::text::{ELEMENT, HOLE, MADE, NAME, Text, cut_of, is_hole, may_be_option, part_of};

impl Classifier<'_> {
    /// Adds the value of a parameter, and judges what its expansion evaluates.
    pub(super) fn parameter<'c>(
        &mut self,
        code: &Code<'c>,
        parameter: &'c Parameter,
        quoted: bool,
        frame: &mut Frame,
        choice: &mut Choice,
        fields: &mut Fields<'c>,
    ) {
        let name = code.slice(parameter.name);
        let span = code.place(parameter.span);
        let subscript = parameter.subscript.as_deref();
        if let Some(parts) = subscript {
            self.late_parts(code, parts, parameter.span, frame);
        }
        if parameter.length {
            if let Some(operation) = &parameter.operation {
                self.visit(code, &operation.parts, frame);
            }
            fields.builder().push_byte(NAME, span);
            return;
        }
        if parameter.indirect {
            self.indirect(name, span, quoted, frame, fields);
            if let Some(operation) = &parameter.operation {
                self.visit(code, &operation.parts, frame);
            }
            return;
        }
        if let Some(operation) = &parameter.operation {
            let kept = self.operated(code, parameter, operation, frame, choice);
            self.add_value(&kept, span, quoted, fields);
            return;
        }
        let is_all = matches!(name, "@" | "*")
            || subscript.is_some_and(
                |parts| matches!(parts, [Part::Quoted(at)] if matches!(code.slice(*at), "@" | "*")),
            );
        match name {
            "@" | "*" => self.all_parameters(name, span, quoted, frame, fields),
            "?" | "#" | "$" | "!" | "-" => fields.builder().push_byte(NAME, span),
            _ => {
                let index = match subscript {
                    Some([Part::Quoted(at)]) => index(code.slice(*at)),
                    Some(_) => None,
                    None => Some(0),
                };
                let value = self.value_of(name, span, frame, choice);
                let is_split = quoted || self.step(blanks(&value), span);
                if !is_split {
                    unknown(HOLE, span, quoted, fields);
                } else if index.is_none() && !is_all {
                    unknown(cut_of(&value), span, quoted, fields);
                } else if is_all {
                    fields.spread |= matches!(*value, [HOLE | MADE]);
                    // No elements, or one that is empty.
                    if quoted && value.is_empty() && choice.choose(&format!("{name}[@]"), 2) == 0 {
                        return;
                    }
                    for (number, element) in value.split(|byte| *byte == ELEMENT).enumerate() {
                        if number > 0 {
                            fields.cut();
                        }
                        self.add_value(element, span, quoted, fields);
                    }
                } else if let [HOLE | MADE] = *value {
                    self.add_value(&value, span, quoted, fields);
                } else {
                    let mut elements = value.split(|byte| *byte == ELEMENT);
                    let element = elements.nth(index.unwrap_or(0)).unwrap_or(b"");
                    self.add_value(element, span, quoted, fields);
                }
            }
        }
    }

    /// Adds `${!name}`: the value is the name of another variable, whose subscript is evaluated.
    fn indirect(
        &mut self,
        name: &str,
        span: Span,
        quoted: bool,
        frame: &mut Frame,
        fields: &mut Fields<'_>,
    ) {
        let mut mark = HOLE;
        for value in self.shell.literals(name).to_vec() {
            if !self.expands(&value, span) {
                break;
            }
            self.evaluate(&Text::from_span(&*value, span), frame);
            let named = value.split(|byte| *byte == b'[').next().unwrap_or(&value);
            if str::from_utf8(named).is_ok_and(|named| self.shell.is_assigned(named)) {
                mark = MADE;
            }
        }
        if frame.parameters.mark() == MADE {
            mark = MADE;
        }
        unknown(mark, span, quoted, fields);
    }

    /// Adds `$@` or `$*`.
    fn all_parameters(
        &mut self,
        name: &str,
        span: Span,
        quoted: bool,
        frame: &Frame,
        fields: &mut Fields<'_>,
    ) {
        let Parameters::Known(all) = frame.parameters.clone() else {
            fields.spread = true;
            fields.builder().push_byte(frame.parameters.mark(), span);
            return;
        };
        for (number, text) in all.iter().enumerate() {
            if !self.step(1, span) || !self.expands(&text.bytes, span) {
                fields.spread = true;
                fields.builder().push_byte(frame.parameters.mark(), span);
                return;
            }
            if number > 0 {
                if name == "*" && quoted {
                    fields.builder().push_byte(b' ', span);
                } else {
                    fields.cut();
                }
            }
            self.add_value(&text.bytes, span, quoted, fields);
        }
    }

    /// Adds a value, which a shell cuts into words outside of quotes.
    fn add_value(&self, value: &[u8], span: Span, quoted: bool, fields: &mut Fields<'_>) {
        match self.shell.cut(value).filter(|_| !quoted) {
            Some(mark) => unknown(mark, span, quoted, fields),
            None => fields.value(value, span, quoted),
        }
    }

    /// Returns the value of a parameter in this reading; a mark if it is not known.
    fn value_of(&mut self, name: &str, span: Span, frame: &Frame, choice: &mut Choice) -> Rc<[u8]> {
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number {
            return match name {
                "_" => [MADE].into(),
                "@" | "*" => [frame.parameters.mark()].into(),
                _ => self.chosen(name, choice, span),
            };
        }
        let number: usize = name.parse().unwrap_or(usize::MAX);
        let text = match (number.checked_sub(1), &frame.parameters) {
            (None, _) => frame.zero.as_deref(),
            (Some(at), Parameters::Known(all)) => match all.get(at) {
                Some(text) => Some(text),
                None => return [].into(),
            },
            (Some(_), unknown) => return [unknown.mark()].into(),
        };
        match text {
            Some(text) if self.expands(&text.bytes, span) => text.bytes.as_ref().into(),
            _ => [HOLE].into(),
        }
    }

    /// Returns the value of a variable in this reading; a mark if it is not known.
    fn chosen(&mut self, name: &str, choice: &mut Choice, span: Span) -> Rc<[u8]> {
        let value: Rc<[u8]> = match self.shell.held(name) {
            Held::Unknown(mark) => [mark].into(),
            Held::Given(value) => value.into(),
            Held::Values(values, mark) => {
                let index = choice.choose(name, values.len() + usize::from(mark.is_some()));
                if choice.readings > READINGS_MAX {
                    let is_option =
                        mark == Some(MADE) || values.iter().any(|value| may_be_option(value));
                    [if is_option { MADE } else { HOLE }].into()
                } else {
                    values.get(index).cloned().unwrap_or_else(|| [mark.unwrap_or(HOLE)].into())
                }
            }
        };
        if self.expands(&value, span) { value } else { [HOLE].into() }
    }

    /// Returns what an operator makes of a value in this reading, and judges what its expansion evaluates.
    fn operated<'c>(
        &mut self,
        code: &Code<'c>,
        parameter: &'c Parameter,
        operation: &'c Operation,
        frame: &mut Frame,
        choice: &mut Choice,
    ) -> Vec<u8> {
        let Operation { operator, parts } = operation;
        let name = code.slice(parameter.name);
        let span = code.place(parameter.span);
        let value = self.value_of(name, span, frame, choice);
        // Of an array the operator is for each element, or for one.
        let is_one = parameter.subscript.is_none() && !value.contains(&ELEMENT);
        if matches!(operator, b'-' | b'=' | b'?' | b'+') {
            let other = self.single_reading(code, parts, parameter.span, frame, choice);
            let other = other.text.bytes;
            if *operator == b'=' {
                self.shell.assign(name, Rc::from(&*other));
                self.shell.assign(name, [HOLE].into());
            }
            if !is_one {
                return vec![cut_of(&value).min(cut_of(&other))];
            }
            // Whether a variable from outside has a value is open.
            let is_open = value.iter().all(|byte| is_hole(*byte));
            let key = format!("{}{}", span.start, char::from(*operator));
            let takes_other = is_open && choice.choose(&key, 2) == 1;
            return match operator {
                b'?' => value.to_vec(),
                b'+' if is_open && !takes_other => Vec::new(),
                b'+' => other.into_owned(),
                _ if takes_other => other.into_owned(),
                _ => value.to_vec(),
            };
        }
        match operator {
            b':' => self.arithmetic(code, parts, parameter.span, frame),
            b'@' => {
                self.late_values(name, span, frame);
                self.visit(code, parts, frame);
            }
            _ => self.visit(code, parts, frame),
        }
        let written = parts.iter().any(|part| match part {
            Part::Bare(at) | Part::Quoted(at) => part_of(code.slice(*at).as_bytes()) == MADE,
            Part::Glob(_) => false,
            _ => true,
        });
        let mark = match part_of(&value) {
            _ if *operator == b'/' && written => MADE,
            mark => mark,
        };
        if !is_one || value.iter().any(|byte| is_hole(*byte)) {
            return vec![mark];
        }
        let pattern = match parts.as_slice() {
            [Part::Glob(_), Part::Bare(slash) | Part::Quoted(slash)] => code.slice(*slash),
            _ => "",
        };
        let folder = value.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        match operator {
            b'^' | b',' => recased(*operator, &value, code, parts).unwrap_or_else(|| vec![mark]),
            // What is cut off at the end leaves the folder.
            b'%' if !may_be_option(&value) => {
                let mut kept = value.get(..folder).unwrap_or(&[]).to_vec();
                kept.push(NAME);
                kept
            }
            _ if mark == MADE => vec![MADE],
            // `##*/` leaves the name.
            b'#' if matches!(pattern, "/" | "#*/") || folder == 0 => vec![NAME],
            _ => vec![HOLE],
        }
    }
}

/// Returns a value with other letters; `None` if that depends on a pattern.
fn recased(operator: u8, value: &[u8], code: &Code<'_>, parts: &[Part]) -> Option<Vec<u8>> {
    let change = match operator {
        b'^' => u8::to_ascii_uppercase,
        _ => u8::to_ascii_lowercase,
    };
    match parts {
        [] => {
            let (first, rest) = value.split_first()?;
            Some([&[change(first)], rest].concat())
        }
        [Part::Bare(at) | Part::Quoted(at)] if code.slice(*at).as_bytes() == [operator] => {
            Some(value.iter().map(change).collect())
        }
        _ => None,
    }
}

/// Returns the number of an element; `None` if it is none, or one that is octal.
fn index(subscript: &str) -> Option<usize> {
    let is_octal = subscript.len() > 1 && subscript.starts_with(['0', '+']);
    if is_octal { None } else { subscript.parse().ok() }
}

/// Adds what is not known.
fn unknown(mark: u8, span: Span, quoted: bool, fields: &mut Fields<'_>) {
    fields.spread |= !quoted;
    fields.builder().push_byte(mark, span);
}

/// Returns how many bytes of a value may split it.
fn blanks(value: &[u8]) -> usize {
    value.iter().filter(|byte| matches!(byte, b' ' | b'\t' | b'\n')).count()
}
