//! A role without callers.
//!
//! It is idle: `users` gives neither it nor a role that it contains.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::model::audience::Callers;
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("no caller has the role `{name}`")]
#[diagnostic(
    code(role::idle),
    severity(Warning),
    help("give it to someone: `users {{ user \"…\" role={name} }}`, or remove it")
)]
struct IdleRole {
    name: String,
    #[label(primary, "no `user`, `group` or `anyone` has it")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    // A faulty user may be the one that has it.
    if out.error_count() > 0 {
        return;
    }
    let callers = Callers::of(&model.access);
    for (number, role) in model.access.roles.iter().enumerate() {
        let at = role.name.at;
        let is_parent = model.access.roles.iter().enumerate().any(|(other, _)| {
            callers.have_role(other) && model.access.ancestors(other).any(|it| it == number)
        });
        if is_parent {
            out.mark_used(at);
        } else {
            out.report_idle(at, IdleRole { name: role.name.value.clone(), at });
        }
    }
}
