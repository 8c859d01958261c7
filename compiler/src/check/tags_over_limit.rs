//! More tags are requested than accepted.
//!
//! A call by an agent that follows the instructions would be rejected.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("{ask} tags are asked for, and {max} are accepted")]
#[diagnostic(code(gate::tags_over_limit), help("write at most `ask={max}`, or raise `max`"))]
struct TagsOverLimit {
    ask: u32,
    max: u32,
    #[label(primary, "more than `max`")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let (ask, max) = (&model.gate.tags_ask, model.gate.tags_max.value);
    if let (Some(at), true) = (ask.at, ask.value > max) {
        out.report(at, TagsOverLimit { ask: ask.value, max, at });
    }
}
