//! `policy use="…"`: the policy of a project on top of a shipped one.

use std::collections::BTreeMap;

use miette::Diagnostic;
use relay_engine::nearest::nearest;
use relay_policy::tier::Floors;
use thiserror::Error;

use crate::ast::Policy;
use crate::diagnostic::Diagnostics;
use crate::parse;
use crate::source::{Sources, Span, Spanned};

/// Returns a policy with the parts of the shipped one that it starts from: those that it has itself take precedence.
pub(super) fn joined(sources: &Sources<'_>, policy: Policy, out: &mut Diagnostics) -> Policy {
    let Some(start) = &policy.settings.starts_from else {
        for Spanned { value, at } in &policy.drops {
            let (name, at) = (value.clone(), *at);
            out.report(at, DropWithoutUse { name, at });
        }
        return policy;
    };
    let Some(shipped) = parse::shipped_policy(sources, start.value, out) else { return policy };
    let mut rules: BTreeMap<String, _> =
        shipped.rules.into_iter().map(|rule| (rule.name.value.clone(), rule)).collect();
    for Spanned { value, at } in &policy.drops {
        if rules.remove(value).is_none() {
            let (name, at) = (value.clone(), *at);
            let known = nearest(value, rules.keys().map(String::as_str)).map(str::to_owned);
            let help = match known {
                Some(known) => format!("did you mean `{known}`?"),
                None => "`relay show` prints its rules; remove this line".to_owned(),
            };
            out.report(at, UnknownDrop { name, help, at });
        }
    }
    for own in &policy.rules {
        rules.remove(&own.name.value);
    }
    let mut settings = policy.settings;
    if settings.mode.at.is_none() {
        settings.mode = shipped.settings.mode;
    }
    // A shipped policy has no scopes, so the numbers of those of the project stay.
    let mut kept: Vec<_> = rules.into_values().collect();
    kept.sort_by_key(|rule| rule.at.start);
    kept.extend(policy.rules);
    let floors = Floors::each(|floor| {
        let own = policy.floors.of(floor);
        if own.at.is_some() { own.clone() } else { shipped.floors.of(floor).clone() }
    });
    let limits = if policy.limits.at.is_some() { policy.limits } else { shipped.limits };
    Policy {
        limits,
        settings,
        rules: kept,
        classes: shipped.classes.into_iter().chain(policy.classes).collect(),
        paths: shipped.paths.into_iter().chain(policy.paths).collect(),
        floors,
        ..policy
    }
}

/// A rule that is not there cannot be left out, and the author thinks that it is out.
#[derive(Debug, Error, Diagnostic)]
#[error("`drop` of a rule, and the policy starts from no other")]
#[diagnostic(
    code(policy::drop_without_use),
    help("remove the rule itself, or write `use=` with the policy that has `{name}`")
)]
struct DropWithoutUse {
    name: String,
    #[label(primary, "leaves nothing out")]
    at: Span,
}

/// As for every name that is not declared.
#[derive(Debug, Error, Diagnostic)]
#[error("the shipped policy has no rule `{name}`")]
#[diagnostic(code(policy::unknown_drop))]
struct UnknownDrop {
    name: String,
    #[help]
    help: String,
    #[label(primary, "leaves nothing out")]
    at: Span,
}
