//! A call whose skills have more text than the project allows.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::matching::worst_case::{self, WorstCase};
use crate::model::Model;
use crate::source::Span;

/// A server sends texts whole, so the build checks the largest text that any tenant, tool and user
/// can get together.
#[derive(Debug, Error, Diagnostic)]
#[error("{call} is given {what}{bytes} bytes of skills, over the limit of {limit}")]
#[diagnostic(code(skill::merged_over_limit))]
struct MergedOverLimit {
    call: String,
    what: &'static str,
    bytes: usize,
    limit: u32,
    #[help]
    help: &'static str,
    #[label(primary, "{label}")]
    at: Span,
    label: &'static str,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let Some(first) = model.skills.list.first() else { return };
    let limit = model.skills.limits.merged.value;
    let known = model.known_tool_names();
    let Some(worst) = worst_case::over(model, &known, limit as usize) else { return };
    let WorstCase { bytes, tenant, tool, user, is_bound } = worst;
    let mut call = match &tool {
        Some(tool) => format!("a call of `{tool}`"),
        None => "a call".into(),
    };
    if let Some(user) = user {
        call.push_str(&format!(" by `{user}`"));
    }
    if let Some(tenant) = tenant {
        call.push_str(&format!(" of tenant `{tenant}`"));
    }
    let (what, help) = if is_bound {
        (
            "up to (upper bound) ",
            "the patterns have too many combinations to try each; use fewer patterns with several `*`, shorten skills, or raise `skills merged=(bytes)…`",
        )
    } else {
        (
            "",
            "shorten some of them, narrow them, or raise `skills merged=(bytes)…`; `relay explain --tenant … --tool … --user …` lists them",
        )
    };
    let (at, label) = match model.skills.limits.merged.at {
        Some(at) => (at, "the limit"),
        None => (first.name.at, "the first skill; the limit is the default"),
    };
    out.report(at, MergedOverLimit { call, what, bytes, limit, help, at, label });
}
