//! `$name`, `${name…}` and positional parameters: their values in one reading.

use std::rc::Rc;

use super::classifier::{Classifier, Code, READINGS_MAX};
use super::expand::{Choice, Fields};
use crate::shell::{Frame, Held};
use crate::span::Span;
use crate::syntax::{Parameter, Part};
use crate::text::{ELEMENT, HOLE, NAME, Text};

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
        let operation = parameter.operation.as_ref();
        if let Some(operation) = operation {
            match operation.operator {
                b':' => self.arithmetic(code, &operation.parts, parameter.span, frame),
                b'=' => {
                    let value =
                        self.single_reading(code, &operation.parts, parameter.span, frame, choice);
                    self.shell.assign(name, Some(Rc::from(&*value.text.bytes)));
                    self.shell.assign(name, None);
                }
                b'@' => {
                    self.late_values(name, span, frame);
                    self.visit(code, &operation.parts, frame);
                }
                _ => self.visit(code, &operation.parts, frame),
            }
        }
        if parameter.length {
            fields.builder().push_byte(NAME, span);
            return;
        }
        if parameter.indirect {
            // The value is a name, whose subscript is evaluated.
            let values = self.shell.literals(name).to_vec();
            for value in values {
                if !self.expands(&value, span) {
                    break;
                }
                self.evaluate(&Text::from_span(&*value, span), frame);
            }
            fields.spread |= !quoted;
            fields.builder().push_byte(HOLE, span);
            return;
        }
        let is_all = matches!(name, "@" | "*")
            || subscript.is_some_and(
                |parts| matches!(parts, [Part::Quoted(at)] if matches!(code.slice(*at), "@" | "*")),
            );
        let operator = operation.map(|operation| operation.operator);
        if let Some(operator) = operator {
            let kept = self.operated(code, parameter, operator, choice);
            fields.spread |= !quoted && kept.contains(&HOLE);
            fields.builder().push_made(&kept, span);
            return;
        }
        match name {
            "@" | "*" => {
                let Some(all) = frame.parameters.clone() else {
                    fields.spread = true;
                    fields.builder().push_byte(HOLE, span);
                    return;
                };
                for (number, text) in all.iter().enumerate() {
                    if !self.step(1, span) || !self.expands(&text.bytes, span) {
                        fields.spread = true;
                        fields.builder().push_byte(HOLE, span);
                        return;
                    }
                    if number > 0 {
                        if name == "*" && quoted {
                            fields.builder().push_byte(b' ', span);
                        } else {
                            fields.cut();
                        }
                    }
                    fields.value(&text.bytes, span, quoted);
                }
            }
            "?" | "#" | "$" | "!" | "-" => fields.builder().push_byte(NAME, span),
            _ if name.bytes().all(|byte| byte.is_ascii_digit()) => {
                let number: usize = name.parse().unwrap_or(usize::MAX);
                let all = frame.parameters.as_ref();
                match (all, number.checked_sub(1)) {
                    (Some(all), Some(at)) => {
                        if let Some(text) = all.get(at) {
                            if self.expands(&text.bytes, span) {
                                fields.value(&text.bytes, span, quoted);
                            } else {
                                fields.spread |= !quoted;
                                fields.builder().push_byte(HOLE, span);
                            }
                        }
                    }
                    _ => {
                        fields.spread |= !quoted;
                        fields.builder().push_byte(HOLE, span);
                    }
                }
            }
            _ => {
                let value = self.chosen(name, choice, span);
                let index = match subscript {
                    Some([Part::Quoted(at)]) => code.slice(*at).parse::<usize>().ok(),
                    Some(_) => None,
                    None => Some(0),
                };
                let is_element = subscript.is_none() || index.is_some() || is_all;
                let is_split = |value: &Rc<[u8]>| quoted || self.step(blanks(value), span);
                let value = value.filter(|value| **value != [HOLE] && is_element);
                let Some(value) = value.filter(is_split) else {
                    fields.spread |= !quoted || is_all;
                    fields.builder().push_byte(HOLE, span);
                    return;
                };
                let mut elements = value.split(|byte| *byte == ELEMENT);
                if is_all {
                    for (number, element) in elements.enumerate() {
                        if number > 0 {
                            fields.cut();
                        }
                        fields.value(element, span, quoted);
                    }
                } else {
                    let element = elements.nth(index.unwrap_or(0)).unwrap_or(b"");
                    fields.value(element, span, quoted);
                }
            }
        }
    }

    /// Returns the value of a variable in this reading; `None` if it is not known.
    fn chosen(&mut self, name: &str, choice: &mut Choice, span: Span) -> Option<Rc<[u8]>> {
        let value = match self.shell.held(name) {
            Held::Unknown => None,
            Held::Given(value) => Some(value.into()),
            Held::Values(values) if choice.readings <= READINGS_MAX => {
                let index = choice.choose(name, values.len());
                values.get(index).cloned()
            }
            Held::Values(_) => None,
        };
        let value = value.filter(|_| choice.readings <= READINGS_MAX)?;
        self.expands(&value, span).then_some(value)
    }

    /// Returns what an operator leaves of a value.
    fn operated(
        &mut self,
        code: &Code<'_>,
        parameter: &Parameter,
        operator: u8,
        choice: &mut Choice,
    ) -> Vec<u8> {
        let name = code.slice(parameter.name);
        let is_name = name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
        let place = code.place(parameter.span);
        let value = if is_name { self.chosen(name, choice, place) } else { None };
        let is_one = |value: &Rc<[u8]>| !value.contains(&HOLE) && !value.contains(&ELEMENT);
        let Some(value) = value.filter(is_one) else { return vec![HOLE] };
        let operation = parameter.operation.as_ref();
        let pattern = match operation.map(|operation| operation.parts.as_slice()) {
            Some([Part::Glob(_), Part::Bare(slash) | Part::Quoted(slash)]) => code.slice(*slash),
            _ => "",
        };
        let folder = value.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        match operator {
            // A default only counts if there is no value.
            b'-' | b'=' | b'?' if !value.is_empty() => value.to_vec(),
            // What is cut off at the end leaves the folder.
            b'%' => {
                let mut kept = value.get(..folder).unwrap_or(&[]).to_vec();
                kept.push(NAME);
                kept
            }
            // `##*/` leaves the name.
            b'#' if matches!(pattern, "/" | "#*/") => vec![NAME],
            b'#' if folder == 0 => vec![NAME],
            _ => vec![HOLE],
        }
    }
}

/// Returns how many bytes of a value may split it.
fn blanks(value: &[u8]) -> usize {
    value.iter().filter(|byte| matches!(byte, b' ' | b'\t' | b'\n')).count()
}
