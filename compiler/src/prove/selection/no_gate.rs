//! An expected briefing in an ungated project.

use miette::Diagnostic;
use thiserror::Error;

use crate::prove::case::Case;
use crate::source::Span;

/// Only a gate sends briefings, so an ungated project proves none.
#[derive(Debug, Error, Diagnostic)]
#[error("there is no briefing, since the project has no gate")]
#[diagnostic(
    code(expect::no_gate),
    help("add `gate on`; if only some environments have it, move the `expect` into their `when`")
)]
struct NoGate {
    #[label(primary, "nothing is selected")]
    at: Span,
}

pub(super) fn report(case: &mut Case<'_, '_>) {
    let at = case.expect.at;
    case.fail(at, NoGate { at });
}
