//! The `match` and `no-match` lines of rules, tried on the bundle.

use miette::Diagnostic;
use relay_bundle::{Bundle, Corrupt};
use relay_engine::authority::Authority;
use relay_engine::decide::{self, rule_named};
use thiserror::Error;

use super::declared::{Declared, Tried};
use crate::diagnostic::Diagnostics;
use crate::source::Span;

/// Tries the rules on their texts, but those that are known to hold; returns whether each does what its line says.
pub(super) fn prove(
    bundle: &Bundle,
    authority: &Authority,
    declared: &Declared,
    out: &mut Diagnostics,
) -> Result<bool, Corrupt> {
    let mut all_hold = true;
    // A bundle without rules has no facts either.
    if !declared.has_open_examples() {
        return Ok(all_hold);
    }
    let facts = authority.facts(bundle)?;
    let judging = (authority, &facts);
    for tried_on in declared.examples.chunk_by(|one, other| one.rule == other.rule) {
        let Some(Tried { rule: name, holds: false, .. }) = tried_on.first() else { continue };
        let Some(rule) = rule_named(bundle, name)? else { continue };
        for &Tried { rule: _, ref text, matches, holds: _, at, rule_at } in tried_on {
            let Some(text) = decide::Tried::of(bundle, judging, &rule, text)? else { continue };
            let name = || name.to_owned();
            match (matches, text.means(bundle, judging, &rule)?) {
                (true, Ok(())) | (false, Err(_)) => continue,
                (true, Err(reason)) => {
                    out.report(at, NotMeant { rule: name(), reason, at, rule_at });
                }
                (false, Ok(())) => out.report(at, Meant { rule: name(), at, rule_at }),
            }
            all_hold = false;
        }
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
