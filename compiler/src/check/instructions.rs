//! Instructions that cannot be composed, or that lose entries.
//!
//! Clients cut what is over their limit without a word. The compiler shortens the index by rule
//! instead, and tells; a text that is too long of itself is an error.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::instructions::{self, CHARS_MAX, VARIABLES};
use crate::model::Model;
use crate::source::{Sources, Span};

#[derive(Debug, Error, Diagnostic)]
#[error("unknown variable `{name}`")]
#[diagnostic(code(message::unknown_variable))]
struct UnknownVariable {
    name: String,
    #[help]
    help: String,
    #[label(primary, "{found}")]
    at: Span,
    found: String,
}

#[derive(Debug, Error, Diagnostic)]
#[error("the instructions have {chars} characters, over the limit of {CHARS_MAX}")]
#[diagnostic(
    code(message::too_long),
    help("shorten the text: clients cut longer instructions without telling")
)]
struct TooLong {
    chars: usize,
    #[label(primary, "this text, without any index")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("{omitted} of {count} prompts are not in the index of the instructions")]
#[diagnostic(
    code(message::shortened),
    severity(Warning),
    help(
        "the instructions keep within {CHARS_MAX} characters; shorten the text or the summaries, or raise the priority of what must be listed"
    )
)]
struct Shortened {
    omitted: usize,
    count: usize,
    #[label(primary, "the lowest priorities were left out")]
    at: Span,
}

pub(super) fn check(sources: &Sources<'_>, model: &Model, out: &mut Diagnostics) {
    let greeting = &model.greeting;
    if let Some(at) = greeting.at {
        for variable in instructions::variables(&greeting.text) {
            if VARIABLES.contains(&variable.name) {
                continue;
            }
            // In a file of its own the text stands as it is; `place` would be wrong only where
            // line ends were changed, so it is looked up there.
            let written = greeting.text.get(variable.start..variable.end).unwrap_or_default();
            let exact = greeting.file.and_then(|file| {
                let start = sources.file(file).shown().find(written)?;
                Some(file.span(start, start + written.len()))
            });
            let at = exact.unwrap_or(at);
            let near = crate::nearest::nearest(variable.name, VARIABLES);
            let help = match near {
                Some(near) => format!("did you mean `{{{{{near}}}}}`?"),
                None => "the variables are `{{project_name}}` and `{{prompt_index}}`".into(),
            };
            let found = "not a variable of this message".to_owned();
            out.report(at, UnknownVariable { name: variable.name.into(), help, at, found });
        }
    }
    let composed = instructions::compose(model);
    let at = greeting.at.unwrap_or(model.project.name.at);
    let chars = composed.text.chars().count();
    if chars > CHARS_MAX {
        out.report(at, TooLong { chars, at });
        return;
    }
    let count = model.prompts.len();
    let omitted = count - composed.index.len();
    if composed.wants_index && omitted > 0 {
        out.report(at, Shortened { omitted, count, at });
    }
}
