//! Code in texts: of `eval`, of `sh -c`, of functions and traps.

use super::code_text::{place_of, readable};
use super::machine::{Code, Machine, NESTING_MAX};
use crate::effect::Hidden;
use crate::parse;
use crate::state::{Dialect, Frame, Function, Parsed};
use crate::syntax::Script;
use crate::value::{Content, Stream, Text};

/// Classifies a text as code of a separate shell, which has only the exported variables.
pub(super) fn other(
    run: &mut Machine<'_>,
    text: &Text<'_>,
    frame: &Frame,
    input: &Stream,
) -> Stream {
    if !run.step(run.variables.count(), text.span) {
        return Stream::default();
    }
    run.process(|run| here(run, text, &mut frame.clone(), input))
}

/// Classifies a text as code of this shell.
pub(super) fn here(
    run: &mut Machine<'_>,
    text: &Text<'_>,
    frame: &mut Frame,
    input: &Stream,
) -> Stream {
    if !enters_code(run, text, frame) {
        return Stream::default();
    }
    let text = readable(text);
    if frame.dialect == Dialect::Other && differs(&text.bytes) {
        return both_readings(run, &text, frame, input);
    }
    one_reading(run, &text, frame, input)
}

fn one_reading(
    run: &mut Machine<'_>,
    text: &Text<'_>,
    frame: &mut Frame,
    input: &Stream,
) -> Stream {
    match parsed(run, text, frame.dialect) {
        Some((source, script)) => {
            commands(run, &Code { text: source, place: text, script: &script }, frame, input)
        }
        None => Stream::default(),
    }
}

/// Classifies a text as a shell without the extensions of bash reads it, and as bash does.
fn both_readings(
    run: &mut Machine<'_>,
    text: &Text<'_>,
    frame: &mut Frame,
    input: &Stream,
) -> Stream {
    if !run.step(1 + run.variables.count() + text.bytes.len() / 4, text.span) {
        return Stream::default();
    }
    let before = frame.clone();
    let reading = |dialect| {
        let mut inner = Frame { dialect, ..before.clone() };
        move |run: &mut Machine<'_>| {
            let output = one_reading(run, text, &mut inner, input);
            (output, inner.state)
        }
    };
    let (output, state) = run.either(reading(Dialect::Posix), reading(Dialect::OtherAsBash));
    frame.state = state;
    output
}

/// Classifies the body of a function, parsed at its first call.
pub(super) fn body(
    run: &mut Machine<'_>,
    body: &Function,
    frame: &mut Frame,
    input: &Stream,
) -> Stream {
    match frame.dialect {
        Dialect::Bash | Dialect::OtherAsBash => {}
        Dialect::Other if !differs(&body.text.bytes) => {}
        _ => return here(run, &body.text, frame, input),
    }
    if !enters_code(run, &body.text, frame) {
        return Stream::default();
    }
    let Parsed { text, script } = match body.parsed.get() {
        Some(parsed) => parsed,
        None => {
            let text = readable(&body.text).owned();
            let Some((_, script)) = parsed(run, &text, Dialect::Bash) else {
                return Stream::default();
            };
            body.parsed.get_or_init(|| Parsed { text, script })
        }
    };
    let source = str::from_utf8(&text.bytes).unwrap_or("");
    commands(run, &Code { text: source, place: text, script }, frame, input)
}

/// Classifies the code of traps at the end of the text, with the functions defined by then.
pub(super) fn traps(run: &mut Machine<'_>, frame: &mut Frame) {
    for code in std::mem::take(&mut run.shell.traps) {
        here(run, &code, frame, &Stream::of(Content::Opaque));
    }
}

/// Classifies the code of traps in another folder.
pub(super) fn traps_in(run: &mut Machine<'_>, frame: &Frame) {
    for code in run.shell.traps.clone() {
        // The traps are taken out, so that a trap that changes the folder runs them only once.
        let traps = std::mem::take(&mut run.shell.traps);
        run.perhaps(|run| here(run, &code, &mut frame.clone(), &Stream::of(Content::Opaque)));
        run.shell.traps = traps;
    }
}

/// Judges code before it is read; returns whether to read it.
fn enters_code(run: &mut Machine<'_>, text: &Text<'_>, frame: &Frame) -> bool {
    if frame.nesting >= NESTING_MAX {
        run.unparsed(text.span, "code is nested too deep");
        return false;
    }
    if !run.step(1 + text.bytes.len() / 4, text.span) {
        return false;
    }
    if text.has_hole() {
        run.runs(Hidden::Made, text.span, "this code is not literal");
    }
    true
}

/// Parses code; code with a syntax error is noted as not understood.
fn parsed<'t>(
    run: &mut Machine<'_>,
    text: &'t Text<'_>,
    dialect: Dialect,
) -> Option<(&'t str, Script)> {
    let Ok(source) = str::from_utf8(&text.bytes) else {
        run.unparsed(text.span, "broken UTF-8");
        return None;
    };
    if dialect == Dialect::Posix {
        return parsed_lines(run, source, text).map(|script| (source, script));
    }
    match parse::parse_within(source, &mut run.fuel.budget) {
        Ok(script) => Some((source, script)),
        Err(error) => {
            run.unparsed(place_of(&error, text), error.reason);
            None
        }
    }
}

/// Parses code as a shell without the extensions of bash does. Surely refused code is skipped.
fn parsed_lines(run: &mut Machine<'_>, source: &str, text: &Text<'_>) -> Option<Script> {
    let (script, error) = match parse::parse_other_within(source, &mut run.fuel.budget) {
        Ok(parsed) => parsed,
        Err(error) => {
            run.unparsed(place_of(&error, text), error.reason);
            return None;
        }
    };
    let Some(error) = error else {
        if mixes(&text.bytes) {
            run.runs(Hidden::Opaque, text.span, "not every shell reads this code alike");
        }
        return Some(script);
    };
    if !REFUSED.contains(&error.reason) {
        run.unparsed(place_of(&error, text), error.reason);
    } else if has_parentheses(&text.bytes) {
        // A shell with some of the extensions may read on.
        run.runs(Hidden::Opaque, text.span, "not every shell reads this code alike");
    }
    Some(script)
}

fn commands(run: &mut Machine<'_>, code: &Code<'_>, frame: &mut Frame, input: &Stream) -> Stream {
    frame.nesting += 1;
    let output = run.list(code, &code.script.body, frame, input);
    frame.nesting -= 1;
    output
}

/// The errors at which every shell refuses a text.
const REFUSED: &[&str] = &[
    "an unexpected token",
    "an unexpected `(`",
    "a keyword out of place",
    "a keyword is missing",
    "a command is missing",
    "a `)` is missing",
    "the target of a redirection is missing",
    "the variable of a loop is missing",
];

/// Syntax that bash and shells without its extensions both accept and read in two ways.
const DIFFERENT: &[&[u8]] =
    &[b"((", b"[[", b"function", b"coproc", b"$'", b"$\"", b"$[", b"&>", b"+="];

/// Returns whether shells other than bash may read a text differently.
fn differs(text: &[u8]) -> bool {
    DIFFERENT.iter().any(|sign| contains(text, sign))
}

/// Returns whether a text has `((` and other syntax that shells read differently: a shell may share
/// only one of the two with bash.
fn mixes(text: &[u8]) -> bool {
    has_parentheses(text) && DIFFERENT.iter().skip(1).any(|sign| contains(text, sign))
}

/// Returns whether a text has `((` outside of `$((` and `for ((`.
fn has_parentheses(text: &[u8]) -> bool {
    let mut before: &[u8] = &[];
    text.split_inclusive(|byte| *byte == b'(').any(|piece| {
        let is_open = piece == b"("
            && !before.is_empty()
            && !before.ends_with(b"$(")
            && !before.ends_with(b"for (");
        before = piece;
        is_open
    })
}

fn contains(text: &[u8], sign: &[u8]) -> bool {
    let Some((first, rest)) = sign.split_first() else { return true };
    let mut before = text;
    while let Some(at) = before.iter().position(|byte| byte == first) {
        before = before.get(at + 1..).unwrap_or(&[]);
        if before.starts_with(rest) {
            return true;
        }
    }
    false
}
