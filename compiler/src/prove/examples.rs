//! The `match` and `no-match` lines of rules, tried on the bundle.

use miette::Diagnostic;
use relay_bundle::{Bundle, Corrupt};
use relay_engine::authority::Authority;
use relay_engine::decide::means;
use thiserror::Error;

use super::declared::{Declared, Tried};
use crate::diagnostic::Diagnostics;
use crate::source::Span;

/// Tries every rule on its texts; returns whether each does what its line says.
pub(super) fn prove(
    bundle: &Bundle,
    authority: &Authority,
    declared: &Declared,
    out: &mut Diagnostics,
) -> Result<bool, Corrupt> {
    let mut all_hold = true;
    for tried in &declared.examples {
        let Tried { rule, text, matches, at, rule_at } = tried;
        let Some(reason) = means(bundle, authority, rule, text)? else { continue };
        let (rule, at, rule_at) = (rule.clone(), *at, *rule_at);
        match (matches, reason) {
            (true, Ok(())) | (false, Err(_)) => continue,
            (true, Err(reason)) => out.report(at, NotMeant { rule, reason, at, rule_at }),
            (false, Ok(())) => out.report(at, Meant { rule, at, rule_at }),
        }
        all_hold = false;
    }
    Ok(all_hold)
}

/// The rule does not do what its author wrote it for.
#[derive(Debug, Error, Diagnostic)]
#[error("the rule `{rule}` does not mean this text")]
#[diagnostic(code(rule::no_match), help("change the rule, or write the text as `no-match`"))]
struct NotMeant {
    rule: String,
    reason: String,
    #[label(primary, "{reason}")]
    at: Span,
    #[label("this rule")]
    rule_at: Span,
}

/// The rule is wider than its author meant.
#[derive(Debug, Error, Diagnostic)]
#[error("the rule `{rule}` means this text")]
#[diagnostic(code(rule::unwanted_match), help("narrow the rule, or write the text as `match`"))]
struct Meant {
    rule: String,
    #[label(primary, "is meant, and should not be")]
    at: Span,
    #[label("by this rule")]
    rule_at: Span,
}
