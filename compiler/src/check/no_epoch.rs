//! A bundle without an epoch.
//!
//! A server that has served epoch 7 refuses epoch 6. If every bundle has epoch 0, an older bundle
//! passes unnoticed.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("the bundle has no epoch, so servers cannot notice a downgrade")]
#[diagnostic(
    code(project::no_epoch),
    severity(Warning),
    help("build with `--epoch N` (in CI: the commit count), or write `epoch=N`")
)]
struct NoEpoch {
    #[label(primary, "epoch 0 is used")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    // A faulty node may hold the epoch.
    if out.error_count() > 0 {
        return;
    }
    if model.project.settings.epoch.at.is_none() {
        let at = model.project.name.at;
        out.report(at, NoEpoch { at });
    }
}
