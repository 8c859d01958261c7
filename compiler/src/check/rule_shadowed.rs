//! A rule that another one makes idle.
//!
//! A rule with the same consequence and the same conditions, for as many callers or more, already
//! means everything that this one means. Only equal conditions are compared, so this is exact.

use hashbrown::HashMap;
use miette::Diagnostic;
use relay_bundle::{RuleKind, Selector};
use thiserror::Error;

use crate::ast::{Policy, PolicyRule};
use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::{Span, Spanned};

#[derive(Debug, Error, Diagnostic)]
#[error("the rule `{name}` adds nothing to `{other}`")]
#[diagnostic(
    code(rule::shadowed),
    severity(Warning),
    help("remove it; the other rule means all of it, for the same callers or more")
)]
struct Shadowed {
    name: String,
    other: String,
    #[label(primary, "without effect")]
    at: Span,
    #[label("means all of it")]
    other_at: Span,
}

/// The most rules with equal conditions that each of them is compared with.
const COMPARED_MAX: usize = 16;

/// The conditions of a rule without their places and their order.
type Conditions<'r> = Vec<(u8, Selector, Option<&'r str>, Vec<&'r str>, Vec<&'r str>)>;

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let Some((policy, _)) = &model.policy else { return };
    let mut alike: HashMap<(&str, Option<u8>, Conditions<'_>), Vec<&PolicyRule>> = HashMap::new();
    for rule in &policy.rules {
        // An observed rule denies nothing, so it makes no other idle.
        if rule.kind() == RuleKind::Deny && rule.observe.as_ref().is_some_and(|it| it.value) {
            continue;
        }
        let tier = rule.tier.as_ref().map(|tier| tier.value.number());
        alike.entry((rule.rule.name, tier, conditions(rule))).or_default().push(rule);
    }
    let mut alike: Vec<_> = alike.into_values().collect();
    alike.sort_unstable_by_key(|rules| rules.first().map(|rule| rule.at));
    for rules in alike {
        for (number, rule) in rules.iter().enumerate() {
            // Of many equal rules the first ones are enough to name one.
            let wider =
                rules.iter().enumerate().take(COMPARED_MAX).find(|(other_number, other)| {
                    *other_number != number
                    && is_within(policy, rule, other)
                    // Of two equal rules the later one is idle.
                    && (*other_number < number || !is_within(policy, other, rule))
                });
            let Some((_, other)) = wider else { continue };
            let (name, at) = (rule.name.value.clone(), rule.at);
            let (other, other_at) = (other.name.value.clone(), other.at);
            out.report(at, Shadowed { name, other, at, other_at });
        }
    }
}

fn conditions(rule: &PolicyRule) -> Conditions<'_> {
    let mut all: Conditions<'_> = rule
        .conditions
        .iter()
        .map(|it| {
            let argument = it.argument.as_ref().map(|argument| argument.value.as_str());
            (it.group, it.selector, argument, texts(&it.values), texts(&it.except))
        })
        .collect();
    all.sort();
    all
}

fn texts(texts: &[Spanned<String>]) -> Vec<&str> {
    let mut texts: Vec<&str> = texts.iter().map(|text| text.value.as_str()).collect();
    texts.sort_unstable();
    texts
}

/// Returns whether another rule is for all callers and hosts of this one.
fn is_within(policy: &Policy, rule: &PolicyRule, other: &PolicyRule) -> bool {
    let (own, wide) = (scope(policy, rule), scope(policy, other));
    wide.iter().all(|limit| own.contains(limit))
}

/// Returns the limits of the callers and hosts of a rule.
fn scope<'p>(policy: &'p Policy, rule: &'p PolicyRule) -> Vec<(&'static str, &'p str)> {
    let mut limits = Vec::new();
    limits.extend(rule.tenant.iter().map(|tenant| ("tenant", tenant.value.as_str())));
    limits.extend(rule.role.iter().map(|role| ("role", role.value.as_str())));
    let mut next = rule.scope;
    while let Some(scope) = next.and_then(|number| policy.scopes.get(number)) {
        for (name, text) in scope.properties() {
            limits.extend(text.iter().map(|text| (name, text.value.as_str())));
        }
        next = scope.parent;
    }
    limits
}
