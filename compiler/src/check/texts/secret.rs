//! A text with a secret.

use miette::Diagnostic;
use thiserror::Error;

use super::place::Owner;
use crate::source::Span;

/// Every holder of a bundle can read its texts, and so can every agent.
#[derive(Debug, Error, Diagnostic)]
#[error("the text holds a secret ({rule})")]
#[diagnostic(code(secret::literal))]
pub(super) struct LiteralSecret {
    rule: &'static str,
    #[help]
    help: String,
    #[label(primary, "every holder of the bundle could read this")]
    at: Span,
}

impl LiteralSecret {
    pub(super) fn new(rule: &'static str, owner: Option<&Owner>, at: Span) -> Self {
        let mut help = "take it out and revoke it".to_owned();
        if let Some(node) = owner.and_then(|owner| owner.allows.as_ref()) {
            let allowed = format!("`allow-secret {rule} because=\"…\"`");
            help.push_str(&format!(
                "; if it is only an example, write {allowed} in the braces of {node}"
            ));
        }
        Self { rule, help, at }
    }
}

/// A suppression is for one form of secrets. With a mistyped name it would suppress nothing, and
/// its text would be an error.
#[derive(Debug, Error, Diagnostic)]
#[error("unknown rule `{rule}` for secrets")]
#[diagnostic(code(secret::unknown_rule))]
pub(super) struct UnknownRule {
    pub(super) rule: String,
    #[help]
    pub(super) help: String,
    #[label(primary, "not known")]
    pub(super) at: Span,
}

/// An obsolete suppression would admit a real secret one day.
#[derive(Debug, Error, Diagnostic)]
#[error("`allow-secret {rule}` suppresses nothing")]
#[diagnostic(code(secret::idle_suppression), severity(Warning), help("remove it"))]
pub(super) struct IdleSuppression {
    pub(super) rule: String,
    #[label(primary, "no text here looks like one")]
    pub(super) at: Span,
}
