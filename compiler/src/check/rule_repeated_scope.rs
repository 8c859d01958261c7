//! Two scopes of the same callers and hosts.
//!
//! Both hold, and the narrower mode counts. A reviewer who reads one of them takes its mode for all.

use miette::Diagnostic;
use thiserror::Error;

use crate::ast::PolicyScope;
use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("this scope is for the same callers and hosts as an earlier one")]
#[diagnostic(
    code(rule::repeated_scope),
    severity(Warning),
    help("move its mode and rules into the first one")
)]
struct RepeatedScope {
    #[label("first here")]
    first_at: Span,
    #[label(primary, "again here")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let Some((policy, _)) = &model.policy else { return };
    let for_whom = |scope: &PolicyScope| {
        let parts = scope.properties().map(|(_, text)| text.as_ref().map(|it| it.value.clone()));
        (scope.parent, parts)
    };
    for (number, scope) in policy.scopes.iter().enumerate() {
        let mut earlier = policy.scopes.iter().take(number);
        if let Some(first) = earlier.find(|first| for_whom(first) == for_whom(scope)) {
            let (first_at, at) = (first.at, scope.at);
            out.report(at, RepeatedScope { first_at, at });
        }
    }
}
