//! Rules by which a caller may do more where commands are judged higher or a class of paths grows.
//!
//! A higher tier leaves the `tier max=` of a deny and enters the `tier min=` of an allow; a path that
//! enters a class may enter an exception. Only rules of the second side can do so: a rule that is gone
//! is a difference of its own.

use relay_bundle::{Condition, Mode, PathKind, Rule, RuleKind, Selector, Subject};
use relay_engine::glob;

use crate::shown::Shown;

/// The classes of which a path has one.
const CLASSES: [&str; 4] = ["critical", "admits", "scratch", "device"];

/// The change of the meaning of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Means {
    More,
    Less,
    /// More of some requests and less of others.
    Other,
}

/// Returns the rule or role by which a caller may do more if tiers rise, in words.
pub(crate) fn of_tiers(shown: &Shown<'_>) -> Option<String> {
    let of_rule = of_conditions(shown, |condition, _| match condition.selector {
        Selector::TierMin => Some(Means::More),
        Selector::TierMax => Some(Means::Less),
        _ => None,
    });
    of_rule.or_else(|| {
        let [_, bundle] = shown.sides;
        let mut roles = bundle.roles().iter();
        // Guarded mode refuses tier 3 unless a person may be asked.
        let role = roles.find(|role| role.approve.as_ref().is_some_and(|it| it.value))?;
        is_guarded(shown).then(|| words(&format!("role `{}`", role.name)))
    })
}

/// Returns the rule by which a caller may do more if a class of paths grows, or else shrinks.
pub(crate) fn of_class(shown: &Shown<'_>, kind: PathKind, grows: bool) -> Option<String> {
    let [own, others] = if grows { [Means::More, Means::Less] } else { [Means::Less, Means::More] };
    of_conditions(shown, |condition, value| match condition.selector {
        Selector::Sends => (kind == PathKind::Secret && value != "*").then_some(Means::Other),
        it if !it.is_of_paths() => None,
        _ if value == kind.word() => Some(own),
        // A path leaves its other class.
        _ if kind != PathKind::Secret && CLASSES.contains(&value) => Some(others),
        _ => None,
    })
}

/// A program whose commands have other effects, or are read otherwise.
pub(crate) struct Program<'n> {
    /// Its names on both sides.
    pub(crate) names: Vec<&'n str>,
    /// Whether it has other names.
    pub(crate) is_renamed: bool,
    /// Whether it may run others.
    pub(crate) runs_others: bool,
}

/// Returns the rules that may mean commands of such a program.
pub(crate) fn about<'s>(
    shown: &'s Shown<'_>,
    program: &Program<'_>,
) -> impl Iterator<Item = &'s Rule> {
    let may_name = |condition: &Condition| {
        condition.selector != Selector::Program
            || condition.values.iter().any(|value| {
                let name = value.value.rsplit('/').next().unwrap_or_default();
                program.names.iter().any(|program| glob::matches(name, program))
            })
    };
    let is_about = |condition: &Condition| match condition.selector {
        Selector::Program => program.is_renamed || program.runs_others,
        it => it.subject() != Subject::Request,
    };
    shown.new.values().filter(move |rule| {
        let mut own = rule.conditions.iter().filter(|condition| condition.group == 0);
        !is_observed(rule)
            && (program.runs_others || own.all(may_name))
            && rule.conditions.iter().any(is_about)
    })
}

/// Returns the rule by which a caller may do more if commands of a program have other effects.
pub(crate) fn of_effects(shown: &Shown<'_>, program: &Program<'_>) -> Option<String> {
    about(shown, program).next().map(of_rule)
}

/// Returns the first rule that permits more by the change of its conditions; `change` returns the change
/// of a value of a condition.
fn of_conditions(
    shown: &Shown<'_>,
    change: impl Fn(&Condition, &str) -> Option<Means>,
) -> Option<String> {
    let permits = |rule: &&Rule| {
        let in_condition = |condition: &Condition| {
            let each = |is_exception: bool, values: &[relay_bundle::Setting<String>]| {
                let mut changes = values.iter().filter_map(|value| change(condition, &value.value));
                changes.any(|means| permits_more(rule.kind, means, is_exception))
            };
            let is_exception = condition.group > 0;
            each(is_exception, &condition.values) || each(!is_exception, &condition.except)
        };
        !is_observed(rule) && rule.conditions.iter().any(in_condition)
    };
    shown.new.values().find(permits).map(of_rule)
}

fn permits_more(kind: RuleKind, means: Means, is_exception: bool) -> bool {
    let means = match (means, is_exception) {
        (Means::More, true) => Means::Less,
        (Means::Less, true) => Means::More,
        (means, _) => means,
    };
    match kind {
        RuleKind::Deny | RuleKind::Tier => means != Means::More,
        RuleKind::Allow | RuleKind::Lower => means != Means::Less,
        // Without it no one is asked; with it, a person's yes admits calls that the mode refuses.
        RuleKind::Approve => true,
    }
}

fn is_observed(rule: &Rule) -> bool {
    rule.kind == RuleKind::Deny && rule.observe
}

/// Returns whether the second side has the mode `guarded` for anyone.
pub(crate) fn is_guarded(shown: &Shown<'_>) -> bool {
    let [_, policy] = shown.policies();
    policy.is_some_and(|policy| {
        let scopes = policy.scopes.iter().filter_map(|scope| scope.mode.as_ref());
        scopes.chain([&policy.mode]).any(|mode| mode.value == Mode::Guarded)
    })
}

fn of_rule(rule: &Rule) -> String {
    words(&format!("{} `{}`", rule.kind.word(), rule.name))
}

fn words(what: &str) -> String {
    format!("callers may gain by it through {what}")
}
