//! `$name`, `${name…}` and positional parameters: their values in one reading.

use std::rc::Rc;

use super::choice::Choice;
use super::fields::Fields;
use super::machine::{Code, Machine, READINGS_MAX, Reading};
use super::{arithmetic, parameter_operator, variables};
use crate::span::Span;
use crate::state::{Held, Parameters};
use crate::syntax::{Operation, Parameter, Part};
use crate::value::{Mark, Text, cut_of, is_hole, join_elements, part_of, split_elements};

/// Adds the value of a parameter, and interprets the text evaluated by its expansion.
pub(super) fn add<'c>(
    run: &mut Machine<'_>,
    reading: &mut Reading<'_, 'c>,
    parameter: &'c Parameter,
    quoted: bool,
    fields: &mut Fields<'_, 'c>,
) {
    let code = reading.code;
    let name = code.slice(parameter.name);
    let span = code.place(parameter.span);
    let subscript = parameter.subscript.as_deref();
    if let Some(parts) = subscript {
        arithmetic::arithmetic(run, code, parts, parameter.span, reading.frame);
    }
    if parameter.length {
        if let Some(operation) = &parameter.operation {
            run.visit(code, &operation.parts, reading.frame);
        }
        fields.builder().push_mark(Mark::Name, span);
        return;
    }
    if parameter.indirect {
        indirect(run, reading, (name, span), quoted, fields);
        if let Some(operation) = &parameter.operation {
            run.visit(code, &operation.parts, reading.frame);
        }
        return;
    }
    if let Some(operation) = &parameter.operation {
        let kept = operated(run, reading, parameter, operation);
        add_value(run, &kept, span, quoted, fields);
        return;
    }
    let is_all = matches!(name, "@" | "*")
        || subscript.is_some_and(
            |parts| matches!(parts, [Part::Quoted(at)] if matches!(code.slice(*at), "@" | "*")),
        );
    match name {
        "@" | "*" => all_parameters(run, reading, (name, span), quoted, fields),
        "?" | "#" | "$" | "!" | "-" => fields.builder().push_mark(Mark::Name, span),
        _ => {
            let index = match subscript {
                Some([Part::Quoted(at)]) => index(code.slice(*at)),
                Some(_) => None,
                None => Some(0),
            };
            let value = value_of(run, reading, name, span);
            let is_split = quoted || run.step(blanks(&value), span);
            let is_unknown = !value.is_empty() && value.iter().all(|byte| is_hole(*byte));
            if !is_split {
                unknown(Mark::Hole.text(), span, quoted, fields);
            } else if index.is_none() && !is_all {
                unknown(&cut_of(&value), span, quoted, fields);
            } else if is_all {
                fields.spread |= is_unknown;
                // There are either zero elements or one empty element.
                if quoted
                    && value.is_empty()
                    && reading.choice.choose(&format!("{name}[@]"), 2) == 0
                {
                    return;
                }
                let is_joined = quoted && is_star(code, subscript);
                for (number, element) in split_elements(&value).enumerate() {
                    separate(run, number, is_joined, span, fields);
                    add_value(run, element, span, quoted, fields);
                }
            } else if is_unknown {
                add_value(run, &value, span, quoted, fields);
            } else {
                let mut elements = split_elements(&value);
                let element = elements.nth(index.unwrap_or(0)).unwrap_or(b"");
                add_value(run, element, span, quoted, fields);
            }
        }
    }
}

/// Adds `${!name}`: the value is the name of another variable, whose subscript is evaluated.
fn indirect(
    run: &mut Machine<'_>,
    reading: &mut Reading<'_, '_>,
    (name, span): (&str, Span),
    quoted: bool,
    fields: &mut Fields<'_, '_>,
) {
    let mut names = run.variables.literals(name).to_vec();
    if names.is_empty() {
        let (code, frame) = (reading.code, &mut *reading.frame);
        let choice = &mut Choice::of(0);
        names.push(value_of(run, &mut Reading { code, frame, choice }, name, span));
    }
    let mut is_made = reading.frame.state.parameters.mark() == Mark::Made;
    for value in names {
        if !run.expands(&value, span) {
            break;
        }
        arithmetic::evaluate(run, &Text::from_span(&*value, span), reading.frame);
        let named = value.split(|byte| *byte == b'[').next().unwrap_or(&value);
        is_made |= str::from_utf8(named).is_ok_and(|named| run.variables.is_assigned(named));
    }
    let mark = if is_made { Mark::Made } else { Mark::Hole };
    unknown(mark.text(), span, quoted, fields);
}

/// Adds `$@` or `$*`.
fn all_parameters(
    run: &mut Machine<'_>,
    reading: &Reading<'_, '_>,
    (name, span): (&str, Span),
    quoted: bool,
    fields: &mut Fields<'_, '_>,
) {
    let frame = &*reading.frame;
    let mark = frame.state.parameters.mark();
    let Parameters::Known(all) = frame.state.parameters.clone() else {
        fields.spread = true;
        fields.builder().push_mark(mark, span);
        return;
    };
    let is_joined = name == "*" && quoted;
    for (number, text) in all.iter().enumerate() {
        if !run.step(1, span) || !run.expands(&text.bytes, span) {
            fields.spread = true;
            fields.builder().push_mark(mark, span);
            return;
        }
        separate(run, number, is_joined, span, fields);
        add_value(run, &text.bytes, span, quoted, fields);
    }
}

/// Adds the separator between the words of a list.
fn separate(
    run: &Machine<'_>,
    number: usize,
    is_joined: bool,
    span: Span,
    fields: &mut Fields<'_, '_>,
) {
    match (number, is_joined) {
        (0, _) => {}
        (_, false) => fields.cut(),
        (_, true) if run.variables.has_separators() => fields.builder().push_mark(Mark::Made, span),
        (_, true) => fields.builder().push_byte(b' ', span),
    }
}

/// Adds a value, which is split into words outside of quotes.
fn add_value(
    run: &Machine<'_>,
    value: &[u8],
    span: Span,
    quoted: bool,
    fields: &mut Fields<'_, '_>,
) {
    match run.variables.cut(value).filter(|_| !quoted) {
        Some(marks) => unknown(&marks, span, quoted, fields),
        None => fields.value(value, span, quoted),
    }
}

/// Returns the value of a parameter in this reading; marks if it is unknown.
pub(super) fn value_of(
    run: &mut Machine<'_>,
    reading: &mut Reading<'_, '_>,
    name: &str,
    span: Span,
) -> Rc<[u8]> {
    let frame = &*reading.frame;
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return match name {
            "_" if run.shell.is_last_option => Mark::Made.text().into(),
            "_" => Mark::Hole.text().into(),
            "@" | "*" => frame.state.parameters.mark().text().into(),
            "PWD" if run.variables.is_assigned(name) => Mark::Hole.text().into(),
            "PWD" => frame.state.folder.path().into(),
            _ => chosen(run, name, reading.choice, span),
        };
    }
    let number: usize = name.parse().unwrap_or(usize::MAX);
    let text = match (number.checked_sub(1), &frame.state.parameters) {
        (None, _) => frame.zero.as_deref(),
        (Some(at), Parameters::Known(all)) => match all.get(at) {
            Some(text) => Some(text),
            None => return [].into(),
        },
        (Some(_), unknown) => return unknown.mark().text().into(),
    };
    match text {
        Some(text) if run.expands(&text.bytes, span) => text.bytes.as_ref().into(),
        _ => Mark::Hole.text().into(),
    }
}

/// Returns the value of a variable in this reading; marks if it is unknown.
fn chosen(run: &mut Machine<'_>, name: &str, choice: &mut Choice, span: Span) -> Rc<[u8]> {
    let value: Rc<[u8]> = match run.variables.held(name) {
        Held::Unknown(Mark::Hole) if variables::names_secret(name) => {
            Mark::Credential.text().into()
        }
        Held::Unknown(mark) => mark.text().into(),
        Held::Given(value) => value.into(),
        Held::Values(values, mark) => {
            let index = choice.choose(name, values.len() + usize::from(mark.is_some()));
            if choice.readings > READINGS_MAX {
                run.variables
                    .marks(name)
                    .into_iter()
                    .chain(mark.map_or(&[][..], Mark::text).iter().copied())
                    .collect()
            } else {
                values
                    .get(index)
                    .cloned()
                    .unwrap_or_else(|| mark.unwrap_or(Mark::Hole).text().into())
            }
        }
    };
    if run.expands(&value, span) { value } else { Mark::Hole.text().into() }
}

/// Returns the result of an operator, and interprets the text evaluated by its expansion.
fn operated<'c>(
    run: &mut Machine<'_>,
    reading: &mut Reading<'_, 'c>,
    parameter: &'c Parameter,
    operation: &'c Operation,
) -> Vec<u8> {
    let code = reading.code;
    let Operation { operator, parts } = operation;
    let name = code.slice(parameter.name);
    let span = code.place(parameter.span);
    let value = value_of(run, reading, name, span);
    // An operator on an array applies to each element, or to one.
    let is_one = parameter.subscript.is_none() && !Mark::Element.is_in(&value);
    if matches!(operator, b'-' | b'=' | b'?' | b'+') {
        let other = run.reading(reading, parts, parameter.span);
        let other = other.text.bytes;
        if *operator == b'=' {
            run.variables.assign(name, Rc::from(&*other));
            run.variables.assign(name, Mark::Hole.text().into());
        }
        if !is_one {
            return cut_of(&join_elements(&[&*value, &*other]));
        }
        // A variable from outside may be unset.
        let is_open = value.iter().all(|byte| is_hole(*byte));
        let key = format!("{}{}", span.start, char::from(*operator));
        let takes_other = is_open && reading.choice.choose(&key, 2) == 1;
        return match operator {
            b'?' => value.to_vec(),
            b'+' if is_open && !takes_other => Vec::new(),
            b'+' => other.into_owned(),
            _ if takes_other => other.into_owned(),
            _ => value.to_vec(),
        };
    }
    match operator {
        b':' => arithmetic::arithmetic(run, code, parts, parameter.span, reading.frame),
        b'@' => {
            arithmetic::late_prompt(run, &value, span, reading.frame);
            run.visit(code, parts, reading.frame);
        }
        _ => run.visit(code, parts, reading.frame),
    }
    let pattern = written(code, parts);
    let is_known = is_one && !value.iter().any(|byte| is_hole(*byte));
    let exact = match &pattern {
        Some(pattern)
            if is_known
                && value.len() <= VALUE_BYTES_MAX
                && run.step(value.len().pow(2) / BYTES_PER_STEP, span) =>
        {
            parameter_operator::apply(*operator, &value, pattern)
        }
        _ => None,
    };
    if let Some(exact) = exact {
        return exact;
    }
    let adds = match (operator, &pattern) {
        (b'/', Some(pattern)) => Mark::Made.is_in(&part_of(pattern)),
        (b'/', None) => true,
        _ => false,
    };
    // `##*/` keeps the name of a file.
    if *operator == b'#'
        && matches!(pattern.as_deref(), Some([b'#', star, b'/']) if Mark::Star.is(*star))
    {
        let is_kept = |byte: &u8| {
            let mark = Mark::of(*byte);
            matches!(mark, Some(Mark::Made | Mark::Secret | Mark::Credential | Mark::Output))
        };
        let marks = value.iter().filter(|byte| is_kept(byte));
        return marks.chain(Mark::Name.text()).copied().collect();
    }
    let marks = part_of(&value);
    match marks.split_first() {
        Some((_, rest)) if adds => [Mark::Made.text(), rest].concat(),
        _ => marks,
    }
}

/// Returns whether a subscript is `*`.
fn is_star(code: &Code<'_>, subscript: Option<&[Part]>) -> bool {
    matches!(subscript, Some([Part::Quoted(at)]) if code.slice(*at) == "*")
}

/// The longest value that an operator is computed for.
const VALUE_BYTES_MAX: usize = 128;
/// The bytes compared with a pattern per step.
const BYTES_PER_STEP: usize = 256;

/// Returns the word after an operator, with marks for its patterns; `None` if it holds an
/// expansion.
fn written(code: &Code<'_>, parts: &[Part]) -> Option<Vec<u8>> {
    let mut written = Vec::new();
    for part in parts {
        match part {
            Part::Bare(at) | Part::Quoted(at) => written.extend(code.slice(*at).bytes()),
            Part::Decoded(bytes, _) => written.extend(bytes),
            Part::Glob(at) if code.slice(*at) == "*" => written.extend(Mark::Star.text()),
            Part::Glob(at) if code.slice(*at) == "?" => written.extend(Mark::Query.text()),
            Part::Double(inner, _) => written.extend(self::written(code, inner)?),
            _ => return None,
        }
    }
    Some(written)
}

/// Returns the index of an element; `None` for other keys and for octal numbers.
fn index(subscript: &str) -> Option<usize> {
    let is_octal = subscript.len() > 1 && subscript.starts_with(['0', '+']);
    if is_octal { None } else { subscript.parse().ok() }
}

/// Adds an unknown text.
fn unknown(marks: &[u8], span: Span, quoted: bool, fields: &mut Fields<'_, '_>) {
    fields.spread |= !quoted;
    fields.builder().push_made(marks, span);
}

/// Returns the number of bytes at which a value may be split.
fn blanks(value: &[u8]) -> usize {
    value.iter().filter(|byte| matches!(byte, b' ' | b'\t' | b'\n')).count()
}
