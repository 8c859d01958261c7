//! An unused message.
//!
//! The messages of the gate are sent only with a gate, and the guidance only to callers who see its
//! tools. One environment that has them is enough: a project writes its messages once for all.

use miette::Diagnostic;
use thiserror::Error;

use crate::ast::MessageName;
use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("message `{name}` is never sent")]
#[diagnostic(code(message::idle), severity(Warning))]
struct IdleMessage {
    name: &'static str,
    #[help]
    help: &'static str,
    #[label(primary, "never sent")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    for message in model.messages.all() {
        let Some(at) = message.at else { continue };
        if model.says(message) {
            out.mark_used(at);
        } else {
            let help = match message.name {
                MessageName::ToolGuidance if model.starts_processes() => {
                    "no caller sees all tools of `shell` and `sessions` that the project offers; remove it, or give them to a role"
                }
                MessageName::ToolGuidance => {
                    "the project offers neither `shell` nor `sessions`; remove it, or add one to `tools`"
                }
                _ if model.gate.on.value => {
                    "with `else=refuse` no briefing comes before a call; remove it, or write `else=intercept`"
                }
                _ => "the project has no gate; remove it, or write `gate on`",
            };
            out.report_idle(at, IdleMessage { name: message.name.word(), help, at });
        }
    }
}
