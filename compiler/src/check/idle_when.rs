//! An idle `when`.
//!
//! The author believes that the environment differs from the others, and it is the same.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("`when {environment}` changes nothing")]
#[diagnostic(
    code(when::idle),
    severity(Warning),
    help("put the nodes into it that differ in this environment, or remove it")
)]
struct IdleWhen {
    environment: String,
    #[label(primary, "holds no named node")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    for when in model.whens.iter().filter(|when| when.nodes == 0) {
        out.report(when.at, IdleWhen { environment: when.environment.value.clone(), at: when.at });
    }
}
