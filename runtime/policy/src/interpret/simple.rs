//! Simple commands: assignments, redirections and the words of a command.

use std::rc::Rc;

use super::choice::Choice;
use super::machine::{Code, Lookup, Machine, READINGS_MAX, Reading};
use super::{arithmetic, expand, lookup, redirect, variables};
use crate::effect::Hidden;
use crate::fuel::READING_STEPS;
use crate::state::Frame;
use crate::syntax::{Assignment, Command, Simple, Value};
use crate::value::{Content, Join, Mark, Stream, Text, cut_of, may_be_option, part_of};

/// Interprets a simple command; returns the text that it writes.
pub(super) fn command(
    run: &mut Machine<'_>,
    code: &Code<'_>,
    (command, simple): (&Command, &Simple),
    frame: &mut Frame,
    input: &Stream,
) -> Stream {
    let Simple { assignments, words } = simple;
    let span = code.place(command.span);
    let beside = assignments.len() * 2 + command.redirects.len();
    if !run.step(beside, span) || !run.affords(words.len(), span) {
        return Stream::of(Content::Opaque);
    }
    let mut assign_all = |run: &mut Machine<'_>| {
        for assignment in assignments {
            assign(run, code, assignment, words.is_empty(), frame);
        }
    };
    match words.is_empty() {
        true => assign_all(run),
        false => run.perhaps(assign_all),
    }
    let redirected = redirect::redirects(run, code, &command.redirects, frame, input);
    let was_connected = frame.state.is_connected;
    frame.state.is_connected |= redirected.is_connected;
    let mut written: Option<Stream> = None;
    let mut readings = 1;
    let mut reading = 0;
    while reading < readings {
        let mut choice = Choice::of(reading);
        let fields = expand::fields(run, &mut Reading { code, frame, choice: &mut choice }, words);
        // The first reading counts the readings.
        if reading == 0 {
            readings = choice.readings.min(READINGS_MAX);
        }
        run.shell.is_last_option |=
            fields.last().is_some_and(|last| may_be_option(&last.text.bytes));
        variables::prefixes(run, code, assignments, &fields);
        let reads =
            matches!(redirected.input.content, Content::File | Content::Network | Content::Made);
        let next = if fields.is_empty() && reads && assignments.is_empty() {
            // `$(< file)` is the content of the file.
            redirected.input.clone()
        } else if fields.is_empty() {
            Stream::literal(Text::from_span(Vec::new(), code.place(command.span)))
        } else {
            lookup::command(run, &fields, frame, &redirected.input, Lookup::Any)
        };
        written = written.join(Some(next));
        reading += 1;
        if reading < readings && !run.step(READING_STEPS, span) {
            break;
        }
    }
    let output = written.unwrap_or_default();
    // A bare `exec` redirects for the commands that follow.
    let is_exec = matches!(words.as_slice(), [only] if code.slice(only.span) == "exec");
    frame.state.is_connected = was_connected || (is_exec && redirected.is_connected);
    redirect::write_redirects(run, &redirected, &output, frame);
    if redirected.takes_output {
        return Stream { is_secret: output.is_secret, ..Stream::default() };
    }
    output
}

/// Interprets an assignment; unless it precedes a command, it changes the variable of the shell.
fn assign(
    run: &mut Machine<'_>,
    code: &Code<'_>,
    assignment: &Assignment,
    stays: bool,
    frame: &mut Frame,
) {
    let name = code.slice(assignment.name);
    if let Some(subscript) = &assignment.subscript {
        arithmetic::arithmetic(run, code, &subscript.parts, subscript.span, frame);
    }
    let mut others = Vec::new();
    let value = match &assignment.value {
        Value::Word(word) => {
            let readings = expand::readings(run, code, word, frame).into_iter();
            let mut readings = readings.map(|field| field.text.bytes.into_owned());
            let first = readings.next().unwrap_or_default();
            others.extend(readings);
            first
        }
        Value::Array(words) => {
            let mut choice = Choice::of(0);
            let value =
                expand::array(run, &mut Reading { code, frame, choice: &mut choice }, words);
            if choice.readings <= 1 { value } else { cut_of(&value) }
        }
    };
    if !stays {
        // It belongs to the command that follows; in a POSIX shell it may persist.
        run.variables.assign(name, value.into());
        run.variables.export(name);
        return;
    }
    if run.shell.integers.iter().any(|integer| integer == name) {
        arithmetic::evaluate(
            run,
            &Text::from_span(value.clone(), code.place(assignment.span)),
            frame,
        );
    }
    let hidden = match name {
        "BASH_ALIASES" => Some(Hidden::Made),
        "BASH_CMDS" => Some(Hidden::Opaque),
        _ => None,
    };
    if let Some(hidden) = hidden {
        let reason = "this changes which code runs by a name";
        run.runs(hidden, code.place(assignment.span), reason);
    }
    for value in others.iter().chain([&value]) {
        variables::prompts(run, name, value, code.place(assignment.span), frame);
    }
    let is_plain = !assignment.append && assignment.subscript.is_none();
    let added: Option<Rc<[u8]>> = (!is_plain).then(|| value.as_slice().into());
    let value = match (assignment.append, &assignment.subscript) {
        (false, Some(_)) => cut_of(&value),
        (true, Some(_)) => part_of(&[run.variables.joined(name), value].concat()),
        (false, None) => value,
        (true, None) if others.is_empty() => {
            appended(run, name, value, &assignment.value, frame.loop_since)
        }
        (true, None) => part_of(&[run.variables.joined(name), value].concat()),
    };
    // The assigned text is also kept as it is, since it may be evaluated wherever it is added.
    if let Some(added) = added {
        run.variables.assign(name, added);
    }
    if is_plain {
        run.variables.set(name, value.into());
    } else {
        run.variables.assign(name, value.into());
    }
    for value in others {
        let value = if is_plain { value } else { part_of(&value) };
        run.variables.assign(name, value.into());
    }
    let exports = run.shell.exports_all;
    variables::exported(run, name, code.place(assignment.span), exports);
}

/// Returns the value of a variable after an append.
fn appended(run: &Machine<'_>, name: &str, value: Vec<u8>, kind: &Value, since: usize) -> Vec<u8> {
    let Some(whole) = run.variables.current(name, since) else {
        // Appended to unknown text, it may begin a word or continue one: `-d` and `elete`.
        return part_of(&[run.variables.joined(name), value].concat());
    };
    // A text is appended to the first element.
    if matches!(kind, Value::Word(_)) && Mark::Element.is_in(whole) {
        return part_of(&[whole, &value].concat());
    }
    let mut whole = whole.to_vec();
    if matches!(kind, Value::Array(_)) && !whole.is_empty() {
        whole.extend(Mark::Element.text());
    }
    whole.extend(value);
    whole
}
