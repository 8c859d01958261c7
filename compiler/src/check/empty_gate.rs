//! A gate without prompts after it.
//!
//! Agents are asked to begin with a briefing, and the briefing is empty.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("the gate has no prompt to send")]
#[diagnostic(
    code(gate::empty),
    severity(Warning),
    help(
        "add prompts that briefings may send, or write `gate off`: each session would begin with an empty briefing"
    )
)]
struct EmptyGate {
    #[label(primary, "nothing comes after it")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    // With errors, it may be empty only because its contents have faults.
    if out.error_count() > 0 || !model.gate.on.value || model.briefed().next().is_some() {
        return;
    }
    // An empty project has its own report.
    if model.prompts.is_empty() && model.resources.is_empty() && model.templates.is_empty() {
        return;
    }
    if let Some(at) = model.gate.at {
        out.report(at, EmptyGate { at });
    }
}
