//! The prompts of priority 10 are together over the budget of a briefing.
//!
//! They are sent with every budget, so of all other prompts only names are sent, and every session
//! pays for them.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::{Model, Prompt};
use crate::source::Span;

/// Clients reject an answer of this size.
pub(crate) const BYTES_MAX: usize = 1024 * 1024;

#[derive(Debug, Error, Diagnostic)]
#[error("the prompts of priority 10 have {bytes} bytes together, over the budget of {budget}")]
#[diagnostic(
    code(gate::critical_over_budget),
    severity(Warning),
    help(
        "each briefing sends them all, and then nothing else in full; shorten them, lower the priority of `{largest}` ({largest_bytes} bytes), or raise the budget"
    )
)]
struct CriticalOverBudget {
    bytes: usize,
    budget: usize,
    largest: String,
    largest_bytes: usize,
    #[label(primary, "less than what always comes")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("the prompts of priority 10 have {bytes} bytes together, over the limit of {BYTES_MAX}")]
#[diagnostic(
    code(gate::critical_too_large),
    help("each briefing would send them all; shorten them, or lower the priority of some")
)]
struct CriticalTooLarge {
    bytes: usize,
    #[label(primary, "the largest of them: {largest_bytes} bytes")]
    at: Span,
    largest_bytes: usize,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let gate = &model.gate;
    if !gate.on.value {
        return;
    }
    // Of all audiences, the one with the largest text is reported.
    let sized = |audience| -> Vec<(usize, &Prompt)> {
        let seen = model.seen_by(audience).map(|(_, prompt)| prompt);
        let critical = seen.filter(|it| it.briefing.value && it.settings.priority.value == 10);
        critical.map(|prompt| (prompt.body.value.len(), prompt)).collect()
    };
    let total = |sized: &Vec<(usize, &Prompt)>| sized.iter().map(|(bytes, _)| bytes).sum::<usize>();
    let sized = model.audiences.with_callers().map(sized).max_by_key(total).unwrap_or_default();
    let Some((largest_bytes, largest)) = sized.iter().copied().max_by_key(|(bytes, _)| *bytes)
    else {
        return;
    };
    let bytes = total(&sized);
    let budget = gate.budget_bytes.value as usize;
    if bytes > BYTES_MAX {
        let at = largest.name.at;
        out.report(at, CriticalTooLarge { bytes, largest_bytes, at });
    } else if bytes > budget && budget > 0 {
        // A budget of 0 means that all other prompts come without their text.
        let at = gate.budget_bytes.at.or(gate.at).unwrap_or(largest.name.at);
        let largest = largest.name.value.clone();
        out.report(at, CriticalOverBudget { bytes, budget, largest, largest_bytes, at });
    }
}
