//! An `expect context` for a call that a server rejects.

use miette::{Diagnostic, LabeledSpan};
use relay_bundle::Corrupt;
use relay_engine::decide::{Visible, visible};
use relay_engine::glob;
use relay_engine::place::Placement;
use relay_engine::tool;
use relay_engine::view::View;
use thiserror::Error;

use super::case::Case;
use super::visible;
use crate::source::Span;

/// A call of a tool that is hidden from the caller gets an error instead of skills.
#[derive(Debug, Error, Diagnostic)]
#[error("{who} `{tool}`, so the call is rejected and is given no skill text")]
#[diagnostic(code(expect::rejected_call))]
struct RejectedCall {
    who: &'static str,
    tool: String,
    #[help]
    help: String,
    #[label(primary, "not seen")]
    at: Span,
    #[label(collection, "by this")]
    because: Vec<LabeledSpan>,
}

/// Returns whether a server rejects the call, which is reported: the tool is hidden from the
/// caller. This is also known of a tool of another server if the caller's role has `tools`.
pub(super) fn report(case: &mut Case<'_, '_>, placement: &Placement) -> Result<bool, Corrupt> {
    let Some(name) = &case.expect.tool else { return Ok(false) };
    let is_offered = case.bundle.tools().iter().any(|tool| tool.name == name.value);
    let others = &case.declared.other_tools;
    let is_other = || others.iter().any(|pattern| glob::matches(pattern, &name.value));
    let is_others = tool::find(&name.value).is_none() || (!is_offered && is_other());
    // In a project with roles, a call without a role belongs to no particular caller.
    let is_anyones = placement.role.is_none() && !case.bundle.roles().is_empty();
    if (is_offered || is_others) && is_anyones {
        return Ok(false);
    }
    let view = View::of(case.bundle, placement)?;
    let is_hidden = || Ok(matches!(visible(&view, &name.value)?, Visible::NotSeen(..)));
    if is_others && !is_hidden()? {
        return Ok(false);
    }
    let (sees, because, reason) = visible::tool(case, &view, placement, &name.value)?;
    if sees {
        return Ok(false);
    }
    let is_by_role = is_offered || is_others;
    let who = if is_by_role { "this caller does not see" } else { "no one sees" };
    let help = match is_by_role {
        true => format!("{}; {reason}", case.caller(placement)),
        false => reason,
    };
    let (tool, at) = (name.value.clone(), name.at);
    case.fail(at, RejectedCall { who, tool, help, at, because });
    Ok(true)
}
