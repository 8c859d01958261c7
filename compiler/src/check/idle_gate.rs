//! Settings of a gate that do nothing.
//!
//! The author believes that the settings are in force. They belong to a gate that is off or to
//! briefings that never precede a call, or their value is missing.

use miette::Diagnostic;
use relay_bundle::Unlock;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("{what}")]
#[diagnostic(code(gate::idle), severity(Warning))]
struct IdleGate {
    what: String,
    #[help]
    help: &'static str,
    #[label(primary, "nothing comes of this")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let gate = &model.gate;
    for at in gate.first_settings.iter().copied() {
        if gate.on.value {
            out.mark_used(at);
            continue;
        }
        let what = "the gate is off, so its settings do nothing".into();
        let help = "remove it, or write `gate on`";
        out.report_idle(at, IdleGate { what, help, at });
    }
    if !gate.on.value {
        return;
    }
    for node in &gate.empty {
        let what = format!("`{}` sets nothing", node.value);
        out.report(
            node.at,
            IdleGate { what, help: "give it one, or remove the node", at: node.at },
        );
    }
    if let (Some(at), Unlock::Intercept) = (gate.repeat_bytes.at, gate.unlock.value) {
        out.mark_used(at);
    }
    if let (Some(at), Unlock::Refuse) = (gate.repeat_bytes.at, gate.unlock.value) {
        let what = "no call is ever preceded by a briefing".into();
        let help =
            "with `else=refuse` this budget is never used; remove it, or write `else=intercept`";
        out.report_idle(at, IdleGate { what, help, at });
    }
}
