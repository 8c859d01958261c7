//! Tags that the gate rejects.

use miette::Diagnostic;
use relay_engine::select::TagError;
use thiserror::Error;

use crate::prove::case::Case;
use crate::source::Span;

/// An agent that sends these tags gets an error instead of a briefing.
#[derive(Debug, Error, Diagnostic)]
#[error("the gate rejects these tags: {reason}")]
#[diagnostic(code(expect::tags), help("expect what a call can get: fewer or shorter tags"))]
struct Rejected {
    reason: TagError,
    #[label(primary, "rejected")]
    at: Span,
}

pub(super) fn report(case: &mut Case<'_, '_>, reason: TagError) {
    let place = match reason {
        TagError::TooMany { max, .. } => max,
        TagError::TooLong { place, .. } => place.saturating_sub(1),
    };
    let at = case.expect.tags.get(place).map_or(case.expect.at, |tag| tag.at);
    case.fail(at, Rejected { reason, at });
}
