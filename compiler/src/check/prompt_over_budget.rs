//! A prompt that is longer than the budget of a briefing.
//!
//! A briefing sends only its line in the index, however well it matches. Its text reaches an agent
//! only by another call, with its name as the only tag.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("prompt `{name}` has {bytes} bytes, over the budget of {budget}")]
#[diagnostic(
    code(gate::prompt_over_budget),
    severity(Warning),
    help(
        "an agent must ask for it again, by its name alone; split or shorten it, or raise the budget"
    )
)]
struct PromptOverBudget {
    name: String,
    bytes: usize,
    budget: usize,
    #[label(primary, "never comes in full with others")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let budget = model.gate.budget_bytes.value as usize;
    // A budget of 0 means that no prompt comes in full.
    if !model.gate.on.value || budget == 0 {
        return;
    }
    for prompt in model.briefed().filter(|prompt| prompt.settings.priority.value < 10) {
        let (bytes, at) = (prompt.body.value.len(), prompt.name.at);
        if bytes > budget {
            let name = prompt.name.value.clone();
            out.report(at, PromptOverBudget { name, bytes, budget, at });
        }
    }
}
