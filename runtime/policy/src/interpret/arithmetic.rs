//! Text that a shell evaluates late: arithmetic, subscripts, conditions, prompts.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::choice::Choice;
use super::code_text::{place_of, readable};
use super::machine::{Code, Machine, NESTING_MAX, READINGS_MAX, Reading};
use crate::effect::Hidden;
use crate::parse;
use crate::span::Span;
use crate::state::Frame;
use crate::syntax::{Part, Script, Word};
use crate::value::{Field, Mark, Text};

/// Classifies the expansions of a text that the shell evaluates after quote removal.
pub(super) fn late(run: &mut Machine<'_>, text: &Text<'_>, frame: &mut Frame) {
    let is_plain = !text.bytes.iter().any(|byte| matches!(byte, b'$' | b'`'));
    if is_plain {
        return;
    }
    if frame.nesting >= NESTING_MAX {
        run.unparsed(text.span, "code is nested too deep");
        return;
    }
    let text = readable(text);
    let Ok(source) = str::from_utf8(&text.bytes) else { return };
    let (parts, here_documents) = match parse::expansions(source, &mut run.fuel.budget) {
        Ok(parsed) => parsed,
        Err(error) => {
            run.unparsed(place_of(&error, &text), error.reason);
            return;
        }
    };
    frame.nesting += 1;
    let script = Script { body: Vec::new(), here_documents };
    let code = Code { text: source, place: &text, script: &script };
    run.visit(&code, &parts, frame);
    frame.nesting -= 1;
}

/// Classifies the code in a value that is expanded as a prompt (`${name@P}`).
pub(super) fn late_prompt(run: &mut Machine<'_>, value: &[u8], span: Span, frame: &mut Frame) {
    if value.contains(&b'\\') {
        run.runs(Hidden::Made, span, "what this prompt expands to is not shown");
    }
    late(run, &Text::from_span(value, span), frame);
}

/// Classifies an evaluated subscript or other expression, in each of its readings.
pub(super) fn arithmetic<'c>(
    run: &mut Machine<'_>,
    code: &Code<'c>,
    parts: &'c [Part],
    span: Span,
    frame: &mut Frame,
) {
    let mut reading = 0;
    loop {
        let mut choice = Choice::of(reading);
        let field = run.reading(&mut Reading { code, frame, choice: &mut choice }, parts, span);
        evaluate(run, &field.text, frame);
        reading += 1;
        if reading >= choice.readings.min(READINGS_MAX) {
            return;
        }
    }
}

/// Classifies the code in an evaluated arithmetic text: its expansions, and those in the values of
/// the variables that it names.
pub(super) fn evaluate(run: &mut Machine<'_>, text: &Text<'_>, frame: &mut Frame) {
    if run.variables.is_lost() && Mark::Made.is_in(&text.bytes) {
        run.runs(Hidden::Made, text.span, "what is evaluated here is not shown");
    }
    let mut open = vec![text.clone().owned()];
    let mut named: BTreeSet<String> = BTreeSet::new();
    while let Some(text) = open.pop() {
        late(run, &text, frame);
        for name in text.bytes.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_')) {
            let Ok(shown) = str::from_utf8(name) else { continue };
            if name.is_empty() || run.variables.literals(shown).is_empty() {
                continue;
            }
            if !named.insert(shown.to_owned()) {
                continue;
            }
            for value in run.variables.literals(shown).to_vec() {
                if !run.step(1, text.span) || !run.expands(&value, text.span) {
                    return;
                }
                open.push(Text::from_span(value.to_vec(), text.span));
            }
        }
    }
    arithmetic_assigns(run, &text.bytes);
}

/// Notes the assignments in an arithmetic text.
fn arithmetic_assigns(run: &mut Machine<'_>, bytes: &[u8]) {
    // The last name that was read; an assignment uses it up.
    let mut name = 0..0;
    let mut before = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let next = bytes.get(at + 1).copied().unwrap_or(0);
        let is_assignment =
            (*byte == b'=' && next != b'=' && !matches!(before, b'=' | b'!' | b'<' | b'>'))
                || (matches!((*byte, next), (b'+', b'+') | (b'-', b'-')));
        before = *byte;
        if byte.is_ascii_alphanumeric() || *byte == b'_' {
            name = if name.end == at { name.start..at + 1 } else { at..at + 1 };
        } else if is_assignment
            && let Ok(assigned) = str::from_utf8(bytes.get(name.clone()).unwrap_or(&[]))
            && !assigned.is_empty()
        {
            run.variables.assign(assigned, Rc::from(Mark::Name.text()));
            name = 0..0;
        }
    }
}

/// Classifies `[[ … ]]`.
pub(super) fn condition(run: &mut Machine<'_>, code: &Code<'_>, words: &[Word], frame: &mut Frame) {
    let mut reading = 0;
    loop {
        let mut choice = Choice::of(reading);
        let fields: Vec<Field<'_>> = words
            .iter()
            .map(|word| {
                let reading = &mut Reading { code, frame, choice: &mut choice };
                run.reading(reading, &word.parts, word.span)
            })
            .collect();
        for (at, field) in fields.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| fields.get(at));
            match &*field.text.bytes {
                b"-eq" | b"-ne" | b"-lt" | b"-le" | b"-gt" | b"-ge" => {
                    for operand in [before, fields.get(at + 1)].into_iter().flatten() {
                        evaluate(run, &operand.text, frame);
                    }
                }
                b"-v" | b"-R" => {
                    for operand in fields.get(at + 1).into_iter() {
                        evaluate(run, &operand.text, frame);
                    }
                }
                b"=~" => run.variables.assign("BASH_REMATCH", Mark::Made.text().into()),
                _ => {}
            }
        }
        reading += 1;
        if reading >= choice.readings.min(READINGS_MAX) {
            return;
        }
    }
}
