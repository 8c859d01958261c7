//! Tools that run commands in a project without a policy.

use miette::Diagnostic;
use thiserror::Error;

use crate::ast::ToolChoice;
use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Span;

/// A policy decides each command by its effects. Without one a server denies them all.
#[derive(Debug, Error, Diagnostic)]
#[error("`{group}` runs commands, and the project has no `policy` that decides them")]
#[diagnostic(
    code(tools::no_policy),
    help(
        "add `policy guarded use=server`, which permits what is easily undone, or `policy readonly`"
    )
)]
struct WithoutPolicy {
    group: &'static str,
    #[label(primary, "every command would be denied")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    if model.policy.is_some() {
        return;
    }
    for ToolChoice { group, settings: _ } in &model.tools {
        if group.value.starts_processes() {
            let name = group.value.rule().name;
            out.report(group.at, WithoutPolicy { group: name, at: group.at });
        }
    }
}
