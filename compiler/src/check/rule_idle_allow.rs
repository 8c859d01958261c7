//! An `allow` that no mode asks.
//!
//! Only `guarded` asks a rule that allows. In `open` all runs anyway, and `readonly` listens to none.

use miette::Diagnostic;
use relay_bundle::{Mode, RuleKind};
use thiserror::Error;

use crate::ast::{Policy, PolicyRule};
use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("this `allow` has no effect: no caller that it is for has the mode `guarded`")]
#[diagnostic(
    code(rule::idle_allow),
    severity(Warning),
    help("remove it, or set the mode `guarded` for its callers")
)]
struct IdleAllow {
    #[label(primary, "never asked")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let Some((policy, _)) = &model.policy else { return };
    for rule in policy.rules.iter().filter(|rule| rule.kind() == RuleKind::Allow) {
        if !may_be_guarded(policy, rule) {
            let at = rule.at;
            out.report(at, IdleAllow { at });
        }
    }
}

/// Returns whether a caller of the rule may have the mode `guarded`: that of its scope, of the scopes
/// around it, of the policy, or of any scope that the caller may be in as well.
fn may_be_guarded(policy: &Policy, rule: &PolicyRule) -> bool {
    let mut next = rule.scope;
    while let Some(scope) = next.and_then(|number| policy.scopes.get(number)) {
        if let Some(mode) = &scope.mode {
            return mode.value == Mode::Guarded || has_guarded_scope(policy);
        }
        next = scope.parent;
    }
    policy.settings.mode.value == Mode::Guarded || has_guarded_scope(policy)
}

fn has_guarded_scope(policy: &Policy) -> bool {
    let modes = policy.scopes.iter().filter_map(|scope| scope.mode.as_ref());
    modes.into_iter().any(|mode| mode.value == Mode::Guarded)
}
