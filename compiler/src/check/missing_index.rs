//! A message of the gate that leaves out the list of prompts.
//!
//! Agents ask for prompts whose names they see, and hardly ever for others.

use miette::Diagnostic;
use thiserror::Error;

use crate::ast::MessageName;
use crate::diagnostic::Diagnostics;
use crate::instructions;
use crate::model::{Model, SystemText};
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("the instructions do not list the prompts")]
#[diagnostic(
    code(message::no_index),
    severity(Warning),
    help("put `{{{{prompt_index}}}}` into `gate-instructions` or `session-greeting`")
)]
struct NoIndex {
    #[label(primary, "no index in this text")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("the text after a briefing does not list the remaining prompts")]
#[diagnostic(
    code(message::no_remaining),
    severity(Warning),
    help("put `{{{{remaining_prompts}}}}` into it")
)]
struct NoRemaining {
    #[label(primary, "names no other prompt")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    if !model.gate.on.value {
        return;
    }
    // Some callers do not get the guidance.
    let for_all = |message: &&SystemText| message.name != MessageName::ToolGuidance;
    let mut said = instructions::said_at_once(model).filter(for_all);
    if !said.any(|message| has(message, &["prompt_index"]))
        && let Some(at) = model.messages.gate_instructions.at
    {
        out.report(at, NoIndex { at });
    }
    let encouragement = &model.messages.gate_encouragement;
    if let (Some(at), false) =
        (encouragement.at, has(encouragement, &["prompt_index", "remaining_prompts"]))
    {
        out.report(at, NoRemaining { at });
    }
}

fn has(message: &SystemText, names: &[&str]) -> bool {
    instructions::variables(&message.text).any(|variable| names.contains(&variable.name))
}
