//! A scope with a wider mode than the one around it.
//!
//! Scopes narrow. A reviewer of a scope that widens must see the word, and one that says the word and
//! widens nothing looks as if it did.

use miette::Diagnostic;
use relay_bundle::Mode;
use thiserror::Error;

use crate::ast::{Policy, PolicyScope};
use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("the mode `{}` is wider than `{}`, the mode around it", mode.word(), around.word())]
#[diagnostic(code(rule::widens), help("write `widen=#true` beside it if that is meant"))]
struct Widens {
    mode: Mode,
    around: Mode,
    #[label(primary, "wider")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("the mode `{}` is not wider than `{}`, the mode around it", mode.word(), around.word())]
#[diagnostic(code(rule::idle_widen), severity(Warning), help("remove `widen`"))]
struct IdleWiden {
    mode: Mode,
    around: Mode,
    #[label(primary, "widens nothing")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let Some((policy, _)) = &model.policy else { return };
    for scope in &policy.scopes {
        let Some(mode) = &scope.mode else { continue };
        let (around, at) = (around(policy, scope), mode.at);
        let mode = mode.value;
        match (mode < around, scope.widens) {
            (true, false) => out.report(at, Widens { mode, around, at }),
            (false, true) => out.report(at, IdleWiden { mode, around, at }),
            (true, true) | (false, false) => {}
        }
    }
}

/// Returns the mode around a scope.
fn around(policy: &Policy, scope: &PolicyScope) -> Mode {
    let mut next = scope.parent;
    while let Some(parent) = next.and_then(|parent| policy.scopes.get(parent)) {
        if let Some(mode) = &parent.mode {
            return mode.value;
        }
        next = parent.parent;
    }
    policy.settings.mode.value
}
