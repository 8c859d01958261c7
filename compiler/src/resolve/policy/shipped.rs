//! `policy use="…"`: the policy of a project on top of a shipped one.

use hashbrown::{HashMap, HashSet};
use miette::Diagnostic;
use relay_bundle::RuleKind;
use relay_engine::nearest::nearest;
use relay_policy::tier::Floors;
use thiserror::Error;

use crate::ast::{Policy, PolicyRule};
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
    let judges_as_shipped = judges_as(&shipped, &policy);
    let mut rules: HashMap<String, _> =
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
        judges_as_shipped,
        ..policy
    }
}

/// Returns whether a policy that starts from a shipped one keeps how that judges texts.
fn judges_as(shipped: &Policy, policy: &Policy) -> bool {
    let Policy {
        at: _,
        settings: _,
        drops,
        rules,
        scopes: _,
        classes,
        limits: _,
        floors,
        paths,
        judges_as_shipped: _,
    } = policy;
    let changes_tiers = |rule: &&PolicyRule| match rule.kind() {
        RuleKind::Tier | RuleKind::Lower => true,
        RuleKind::Deny | RuleKind::Approve | RuleKind::Allow => false,
    };
    let own_names = rules.iter().map(|rule| &rule.name.value);
    let replaced: HashSet<&String> =
        drops.iter().map(|drop| &drop.value).chain(own_names).collect();
    let mut theirs = shipped.rules.iter().filter(changes_tiers);
    classes.is_empty()
        && paths.is_empty()
        && floors.iter().all(|(_, setting)| setting.at.is_none())
        && !rules.iter().any(|rule| changes_tiers(&rule))
        && !theirs.any(|rule| replaced.contains(&rule.name.value))
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
