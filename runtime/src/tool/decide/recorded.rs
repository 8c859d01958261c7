//! The parts of a decision for the record of its call.

use relay_engine::audit_record;
use relay_engine::decide::Decision;

use crate::record::audit::{Judged, NAMES_MAX};

/// Returns the reason of a decision for the record of its call.
pub(crate) fn recorded_reason(decision: &Decision) -> String {
    match &decision.at {
        Some(at) if decision.named.is_some() => {
            format!("{}: {} ({}:{})", decision.rule_name(), decision.reason(), at.file, at.line)
        }
        _ => decision.reason(),
    }
}

/// Returns the parts of a decision for the record of its call.
pub(crate) fn judged(decision: &Decision) -> Judged {
    let observed = decision.observed.iter().take(NAMES_MAX);
    let observed =
        observed.map(|it| format!("policy.{} ({}:{})", it.name, it.at.file, it.at.line)).collect();
    let effects = decision.verdict.as_deref().map(audit_record::effects);
    let (effects, effects_omitted) = effects.unwrap_or_default();
    Judged { observed, effects, effects_omitted, approval: None }
}
