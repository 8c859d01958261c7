//! Rules over effects in the mode `open`, and no rule over the code of files.
//!
//! `./x.sh` and `make` have one effect, `runs opaque`: nothing else of them is seen. `guarded` refuses
//! them by their tier, and `open` permits them.

use miette::Diagnostic;
use relay_bundle::{Mode, RuleKind, Selector, Subject};
use thiserror::Error;

use crate::ast::{Policy, PolicyRule};
use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("code of files passes this rule: the mode is `open`, and no rule is about such code")]
#[diagnostic(
    code(rule::file_code),
    severity(Advice),
    help(
        "`./x.sh` and `make` have one effect, `runs opaque`. Add `deny NAME {{ runs opaque }}` or `approve NAME {{ runs opaque }}`, or set the mode `guarded`"
    )
)]
struct FileCode {
    #[label(primary, "the first such rule")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let Some((policy, _)) = &model.policy else { return };
    if policy.rules.iter().any(stops_file_code) {
        return;
    }
    let passed = policy.rules.iter().find(|rule| is_over_effects(rule) && is_open(policy, rule));
    if let Some(rule) = passed {
        let at = rule.name.at;
        out.report(at, FileCode { at });
    }
}

/// Returns whether it stops the code of files for some callers: the author knows of it.
fn stops_file_code(rule: &PolicyRule) -> bool {
    let stops = matches!(rule.kind(), RuleKind::Deny | RuleKind::Approve);
    let is_meant = |value: &str| matches!(value, "*" | "opaque");
    stops
        && rule.conditions.iter().any(|condition| {
            condition.selector == Selector::Runs
                && condition.values.iter().any(|value| is_meant(&value.value))
        })
}

/// Returns whether it denies effects of any program.
fn is_over_effects(rule: &PolicyRule) -> bool {
    let own = || rule.conditions.iter().filter(|condition| condition.group == 0);
    let has = |subject| own().any(|condition| condition.selector.subject() == subject);
    rule.kind() == RuleKind::Deny && has(Subject::Effect) && !has(Subject::Call)
}

/// Returns whether the mode of its callers is `open`.
fn is_open(policy: &Policy, rule: &PolicyRule) -> bool {
    let mut next = rule.scope;
    while let Some(scope) = next.and_then(|number| policy.scopes.get(number)) {
        if let Some(mode) = &scope.mode {
            return mode.value == Mode::Open;
        }
        next = scope.parent;
    }
    policy.settings.mode.value == Mode::Open
}
