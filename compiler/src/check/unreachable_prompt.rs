//! A prompt that only its whole name finds.
//!
//! Tags are searched in summaries and chapters. A prompt that lacks both is only ever named, and
//! keywords of a task miss its text.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("no tag but its name can match the prompt `{name}`")]
#[diagnostic(
    code(gate::unreachable_prompt),
    severity(Warning),
    help("give it a summary or chapters, in which tags are searched")
)]
struct UnreachablePrompt {
    name: String,
    #[label(primary, "has neither summary nor chapters")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    if !model.gate.on.value {
        return;
    }
    for prompt in model.briefed().filter(|prompt| prompt.settings.priority.value < 10) {
        let summary = prompt.summary.as_ref().map_or("", |summary| &summary.value);
        let mut searched = prompt.chapters.iter().map(|chapter| chapter.value.as_str());
        if searched.all(|text| text.trim().is_empty()) && summary.trim().is_empty() {
            let at = prompt.name.at;
            out.report(at, UnreachablePrompt { name: prompt.name.value.clone(), at });
        }
    }
}
