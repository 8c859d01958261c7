//! An expected decision in a project without a policy.

use miette::Diagnostic;
use thiserror::Error;

use crate::prove::case::Case;
use crate::source::Span;

/// Without a policy, nothing is decided about commands, and every one is denied.
#[derive(Debug, Error, Diagnostic)]
#[error("there is no decision, since the project has no policy")]
#[diagnostic(code(expect::no_policy), help("add `policy guarded`, or remove the `expect`"))]
struct NoPolicy {
    #[label(primary, "nothing decides")]
    at: Span,
}

pub(super) fn report(case: &mut Case<'_, '_>) {
    let at = case.expect.at;
    case.fail(at, NoPolicy { at });
}
