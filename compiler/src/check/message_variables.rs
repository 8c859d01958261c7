//! An unknown variable of a message, or a repeated one whose value may be long.
//!
//! A mistyped variable would be sent to agents as written. The selection of a briefing is known
//! when it is sent, so only messages that are sent with one can name it.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::instructions::{self, BUILD_VARIABLES, RUN_VARIABLES, Variable};
use crate::model::{Model, SystemText};
use crate::source::{Sources, Span};

/// A mistyped variable would be sent to agents as written. The selection of a briefing is known
/// when it is sent, so only messages that are sent with one can name it.
#[derive(Debug, Error, Diagnostic)]
#[error("unknown variable `{name}`")]
#[diagnostic(code(message::unknown_variable))]
struct UnknownVariable {
    name: String,
    #[help]
    help: String,
    #[label(primary, "not a variable of this message")]
    at: Span,
}

/// The list may be long, and agents would read it twice.
#[derive(Debug, Error, Diagnostic)]
#[error("`{{{{{name}}}}}` is in the message twice")]
#[diagnostic(
    code(message::variable_twice),
    help("keep one: it may be long, and agents pay for each time")
)]
struct VariableTwice {
    name: String,
    #[label(primary, "again here")]
    at: Span,
}

pub(super) fn check(sources: &Sources<'_>, model: &Model, out: &mut Diagnostics) {
    for message in model.messages.all() {
        if let Some(at) = message.at {
            check_message(sources, message, at, out);
        }
    }
}

fn check_message(
    sources: &Sources<'_>,
    message: &SystemText,
    written_at: Span,
    out: &mut Diagnostics,
) {
    let is_sent_later = instructions::is_sent_later(message.name);
    let mut seen: Vec<&str> = Vec::new();
    for variable in instructions::variables(&message.text) {
        let name = variable.name;
        let at = || exact(sources, message, &variable).unwrap_or(written_at);
        if instructions::has(&BUILD_VARIABLES, name) {
            continue;
        }
        if !is_sent_later || !instructions::has(&RUN_VARIABLES, name) {
            let (at, help) = (at(), help(name, is_sent_later));
            out.report(at, UnknownVariable { name: name.into(), help, at });
        } else if seen.contains(&name) {
            let at = at();
            out.report(at, VariableTwice { name: name.into(), at });
        } else {
            seen.push(name);
        }
    }
}

fn help(name: &str, is_sent_later: bool) -> String {
    if instructions::has(&RUN_VARIABLES, name) {
        return "it works in `gate-encouragement`, `read-prompts-reminder` and \
                `gate-intercept-preamble`, which are sent when it is known"
            .into();
    }
    let later = if is_sent_later { RUN_VARIABLES.as_slice() } else { &[] };
    let known: Vec<&str> = BUILD_VARIABLES.iter().chain(later).map(|(name, _)| *name).collect();
    match relay_engine::nearest::nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{{{{{near}}}}}`?"),
        None => {
            let known: Vec<_> = known.iter().map(|name| format!("`{{{{{name}}}}}`")).collect();
            match known.split_last() {
                Some((last, rest)) => format!("the variables are {} and {last}", rest.join(", ")),
                None => String::new(),
            }
        }
    }
}

/// Returns the place of a variable in the message's file; `None` if the text is in a document.
fn exact(sources: &Sources<'_>, message: &SystemText, variable: &Variable<'_>) -> Option<Span> {
    let file = message.file?;
    let source = sources.file(file);
    let shown = source.text().ok()?;
    let written = message.text.get(variable.start..variable.end)?;
    // Offsets are those of the file unless line ends were changed.
    let start = match shown.get(variable.start..variable.end) {
        Some(there) if there == written => variable.start,
        _ => shown.find(written)?,
    };
    Some(file.span(start, start + written.len()))
}
