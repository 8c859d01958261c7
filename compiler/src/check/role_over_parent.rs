//! A role that sees or may do more than the role that contains it.
//!
//! A parent contains its children: if a caller has several groups, its role counts, and a `for`
//! that admits the parent admits them. So a child must be within it, and this is proved for all
//! names.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::matching::pattern_set;
use crate::model::{Model, Role};
use crate::source::{Span, Spanned};

#[derive(Debug, Error, Diagnostic)]
#[error("the role `{name}` may see the tool `{tool}`, which its parent `{parent}` may not")]
#[diagnostic(
    code(role::over_parent),
    help("narrow the tools of `{name}`, widen those of `{parent}`, or remove the `parent`")
)]
struct ToolOverParent {
    name: String,
    parent: String,
    tool: String,
    #[label(primary, "wider than its parent")]
    at: Span,
    #[label("the parent")]
    parent_at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("whether the tools of `{name}` are within those of its parent `{parent}` cannot be proved")]
#[diagnostic(
    code(role::undecided),
    help("the patterns are too many or too entangled; use fewer stars, or remove the `parent`")
)]
struct Undecided {
    name: String,
    parent: String,
    #[label(primary, "these patterns")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("the role `{name}` has tier {tier}, over tier {parent_tier} of its parent `{parent}`")]
#[diagnostic(
    code(role::tier_over_parent),
    help("lower the tier of `{name}`, raise that of `{parent}`, or remove the `parent`")
)]
struct TierOverParent {
    name: String,
    tier: u8,
    parent: String,
    parent_tier: u8,
    #[label(primary, "over its parent's")]
    at: Span,
    #[label("the parent")]
    parent_at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    for role in &model.access.roles {
        let Some(parent_link) = &role.parent else { continue };
        let Some(parent) = model.access.roles.get(parent_link.value) else { continue };
        let (name, parent_name) = (role.name.value.clone(), parent.name.value.clone());
        let at = role.tier.at.unwrap_or(role.name.at);
        if role.tier.value > parent.tier.value {
            out.report(
                at,
                TierOverParent {
                    name: name.clone(),
                    tier: role.tier.value.number(),
                    parent: parent_name.clone(),
                    parent_tier: parent.tier.value.number(),
                    at,
                    parent_at: parent_link.at,
                },
            );
        }
        let (Some(allowed), true) = (&parent.tools, role.has_own_tools) else { continue };
        let at = first_place(role);
        match pattern_set::outside(&patterns(role.tools.as_deref()), &patterns(Some(allowed))) {
            Ok(None) => {}
            Ok(Some(tool)) => {
                let parent_at = parent_link.at;
                out.report(at, ToolOverParent { name, parent: parent_name, tool, at, parent_at });
            }
            Err(pattern_set::TooMany) => {
                out.report(at, Undecided { name, parent: parent_name, at });
            }
        }
    }
}

fn patterns(tools: Option<&[Spanned<String>]>) -> Vec<&str> {
    tools.unwrap_or_default().iter().map(|pattern| pattern.value.as_str()).collect()
}

fn first_place(role: &Role) -> Span {
    let first = role.tools.iter().flatten().next();
    first.map_or(role.name.at, |pattern| pattern.at)
}
