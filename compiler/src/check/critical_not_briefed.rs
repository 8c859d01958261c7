//! A prompt of priority 10 that no briefing sends.
//!
//! Priority 10 means that every session gets the prompt. Prompts for people are kept out of
//! briefings, by default those with a required argument, so all sessions miss this one.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("prompt `{name}` has priority 10, but briefings do not send it")]
#[diagnostic(code(gate::critical_not_briefed), severity(Warning))]
struct CriticalNotBriefed {
    name: String,
    #[help]
    help: &'static str,
    #[label(primary, "means that every briefing sends it")]
    at: Span,
    #[label("kept out of briefings here")]
    briefing_at: Option<Span>,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    if !model.gate.on.value {
        return;
    }
    let critical = model.prompts.iter().filter(|prompt| prompt.settings.priority.value == 10);
    for prompt in critical.filter(|prompt| !prompt.briefing.value) {
        let briefing_at = prompt.briefing.at;
        let help = match briefing_at {
            Some(_) => "lower its priority, or remove `briefing`",
            None => {
                "prompts that people run are not in briefings by default: write `briefing=#true`, or lower its priority"
            }
        };
        let at = prompt.settings.priority.at.unwrap_or(prompt.name.at);
        let name = prompt.name.value.clone();
        out.report(at, CriticalNotBriefed { name, help, at, briefing_at });
    }
}
