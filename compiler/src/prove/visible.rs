//! `expect visible`: the parts of the project that a caller sees.

use miette::{Diagnostic, LabeledSpan};
use relay_bundle::{Corrupt, List};
use relay_engine::decide::{Visible, visible};
use relay_engine::place::{self, Placement};
use relay_engine::tool::TOOLS;
use relay_engine::view::View;
use thiserror::Error;

use super::case::Case;
use super::declared::{Row, row_of};
use crate::ast::Claim;
use crate::model::offer;
use crate::source::{Span, Spanned};

/// The most `for`s that a report points at.
const SHOWN_MAX: usize = 4;

/// A caller would miss a part that it needs, or see a part that is for others.
#[derive(Debug, Error, Diagnostic)]
#[error("this caller {} the {what} `{name}`", if *wanted { "does not see" } else { "sees" })]
#[diagnostic(code(expect::visible))]
struct OtherView {
    what: &'static str,
    name: String,
    wanted: bool,
    #[help]
    help: String,
    #[label(primary, "does not hold")]
    at: Span,
    #[label(collection, "by this")]
    because: Vec<LabeledSpan>,
}

pub(super) fn prove(case: &mut Case<'_, '_>, placement: &Placement) -> Result<(), Corrupt> {
    let view = View::of(case.bundle, placement)?;
    for (claim, about) in &case.expect.claims {
        let (what, wanted) = match claim {
            Claim::Prompt | Claim::NotPrompt => ("prompt", *claim == Claim::Prompt),
            Claim::Resource | Claim::NotResource => ("resource", *claim == Claim::Resource),
            Claim::Tool | Claim::NotTool => ("tool", *claim == Claim::Tool),
            _ => continue,
        };
        let (sees, because, reason) = match what {
            "tool" => tool(case, &view, placement, &about.value)?,
            _ => listed(case, &view, placement, what, &about.value)?,
        };
        if sees != wanted {
            let help = format!("{}; {reason}", case.caller(placement));
            let name = about.value.clone();
            case.fail(about.at, OtherView { what, name, wanted, help, at: about.at, because });
        }
    }
    Ok(())
}

/// Returns whether a prompt or a resource is seen, the reason, and the way to change it.
fn listed(
    case: &Case<'_, '_>,
    view: &View<'_>,
    placement: &Placement,
    what: &str,
    name: &str,
) -> Result<(bool, Vec<LabeledSpan>, String), Corrupt> {
    let declared = case.declared;
    let lists = match what {
        "prompt" => vec![(List::Prompts, &declared.prompts)],
        _ => vec![(List::Resources, &declared.resources), (List::Templates, &declared.templates)],
    };
    for (list, rows) in lists {
        let Some((row, declared)) = row_of(rows, name).and_then(|row| Some((row, rows.get(row)?)))
        else {
            continue;
        };
        let sees = view.sees(list, row)?;
        let (because, reason) = readers(case, declared, placement, sees, what);
        return Ok((sees, because, reason));
    }
    Ok((false, Vec::new(), format!("the {what} is switched off here")))
}

/// Explains by which `for`s a row is seen, or hidden.
fn readers(
    case: &Case<'_, '_>,
    row: &Row,
    placement: &Placement,
    sees: bool,
    what: &str,
) -> (Vec<LabeledSpan>, String) {
    if row.generated {
        let (label, help) = match sees {
            true => (
                "made for these tools, all of which the caller sees",
                "`enabled=#false` on a prompt of this name switches it off",
            ),
            false => (
                "made for these tools, and the caller lacks one",
                "a prompt of this name in `prompts` replaces it",
            ),
        };
        return (vec![LabeledSpan::new_with_span(Some(label.into()), row.name.at)], help.into());
    }
    if row.readers.0.is_empty() {
        let label = "has no `for`, so everyone sees it".to_owned();
        let help = "a `for` in it says who sees it".to_owned();
        return (vec![LabeledSpan::new_with_span(Some(label), row.name.at)], help);
    }
    let roles = case.bundle.roles();
    let admits = |each: &crate::model::For| {
        let tenant = each.tenant.is_none() || each.tenant == placement.tenant;
        let role = each.role.is_none_or(|role| {
            placement.role.is_some_and(|caller| place::contains(roles, caller, role))
        });
        tenant && role
    };
    let deciding = row.readers.0.iter().filter(|each| !sees || admits(each));
    let labels = deciding.take(SHOWN_MAX).map(|each| {
        let tenant = each.tenant.and_then(|tenant| case.declared.tenants.get(tenant));
        let role = each.role.and_then(|role| case.declared.roles.get(role));
        let admitted = [
            role.map(|role| format!("role `{}`", role.name.value)),
            tenant.map(|tenant| format!("tenant `{}`", tenant.value)),
        ];
        let admitted: Vec<String> = admitted.into_iter().flatten().collect();
        let only = if sees { "admits" } else { "admits only" };
        let label = format!("{only} {}", admitted.join(" of "));
        LabeledSpan::new_with_span(Some(label), each.at)
    });
    let help = match sees {
        true => "one `for` that admits the caller is enough".to_owned(),
        false => format!("no `for` of this {what} admits the caller"),
    };
    (labels.collect(), help)
}

/// Returns whether a tool is seen, the reason, and the way to change it.
pub(super) fn tool(
    case: &Case<'_, '_>,
    view: &View<'_>,
    placement: &Placement,
    name: &str,
) -> Result<(bool, Vec<LabeledSpan>, String), Corrupt> {
    let seen = visible(view, name)?;
    let spec = TOOLS.iter().find(|spec| spec.name == name);
    let is_offered = case.bundle.tools().iter().any(|tool| tool.name == name);
    if seen == Visible::NotOffered || (!is_offered && spec.is_some()) {
        let by = match spec.map(|spec| spec.group) {
            Some(group) => format!("`{}`", offer(group)),
            None => "another server".to_owned(),
        };
        return Ok((false, Vec::new(), format!("no one sees the tool here: {by} offers it")));
    }
    let sees = !matches!(seen, Visible::NotSeen(..));
    let role = placement.role.and_then(|role| case.declared.roles.get(role));
    let patterns = role.and_then(|role| role.tools.as_deref());
    let at = |patterns: &[Spanned<String>]| -> Option<(Span, &'static str)> {
        let matching = patterns.iter().find(|it| relay_engine::glob::matches(&it.value, name));
        match (sees, matching) {
            (true, Some(pattern)) => Some((pattern.at, "matches it")),
            (true, None) => None,
            (false, _) => Some((patterns.first()?.at, "none of these tools is it")),
        }
    };
    let because = patterns
        .and_then(at)
        .map(|(at, text)| LabeledSpan::new_with_span(Some(text.to_owned()), at));
    let reason = match (sees, patterns) {
        (true, None) if role.is_none() => "everyone sees every tool that is offered",
        (true, None) => "its role has no `tools`, so it sees every tool that is offered",
        (true, Some(_)) => "its role's `tools` allow it, or the gate needs it",
        (false, _) => "its role's `tools` do not allow it",
    };
    Ok((sees, because.into_iter().collect(), reason.to_owned()))
}
