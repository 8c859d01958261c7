//! The rules of a policy, its mode, classes and tools of other servers.
//!
//! A rule is compared as a whole. What cannot be shown to be narrower loosens.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{
    Bundle, Condition, Example, Mode, Place, Policy, Rule, RuleKind, Setting, meaning_of,
};

use crate::candidates;
use crate::direction::Direction;
use crate::finding::{Area, Change, Finding, Findings, Kind};
use crate::scope::{self, scope_name};
use crate::shown::Shown;

/// Compares the rules of two bundles.
pub(crate) fn compare(shown: &Shown<'_>, out: &mut Findings) {
    let (old, new) = (&shown.old, &shown.new);
    if let [Some(before), Some(after)] = shown.policies() {
        mode(&before.mode, &after.mode, (&before.at, &after.at), shown, out);
        scope::compare(before, after, shown, out);
        classes(before, after, shown, out);
        tools(before, after, shown, out);
    }
    for (name, rule) in old {
        if !new.contains_key(name) {
            let gone = finding(Kind::Rule, name, Change::Removed, removal(rule))
                .at(Some(&rule.at), None)
                .meaning(format!("{} {name}", lost(rule)));
            out.push(shown.rule(gone, Some(rule), None));
        }
    }
    for (name, rule) in new {
        match old.get(name) {
            None => {
                let added = finding(Kind::Rule, name, Change::Added, addition(rule))
                    .at(None, Some(&rule.at))
                    .meaning(format!("{} {name}", gained(rule)));
                out.push(shown.rule(added, None, Some(rule)));
            }
            Some(before) => changed(name, before, rule, shown, out),
        }
    }
}

fn finding(kind: Kind, name: &str, change: Change, direction: Direction) -> Finding {
    Finding::new(Area::Authority, kind, name, change).direction(direction)
}

/// Returns the direction of a new rule.
fn addition(rule: &Rule) -> Direction {
    match rule.kind {
        RuleKind::Deny if rule.observe => Direction::Same,
        RuleKind::Deny | RuleKind::Tier => Direction::Narrower,
        // A person's yes admits calls that the mode refuses.
        RuleKind::Approve | RuleKind::Allow | RuleKind::Lower => Direction::NotProved,
    }
}

/// Returns the direction of a rule that is gone.
fn removal(rule: &Rule) -> Direction {
    match rule.kind {
        RuleKind::Deny if rule.observe => Direction::Same,
        RuleKind::Allow | RuleKind::Lower => Direction::Narrower,
        // Without an approval, no one is asked.
        RuleKind::Deny | RuleKind::Tier | RuleKind::Approve => Direction::NotProved,
    }
}

const fn gained(rule: &Rule) -> &'static str {
    match rule.kind {
        RuleKind::Deny if rule.observe => "nothing is denied yet; records name what would be by",
        RuleKind::Deny => "every request that it may mean is denied by",
        RuleKind::Approve => "a person is asked by",
        RuleKind::Allow => "guarded mode runs what is covered by",
        RuleKind::Tier => "texts are raised by",
        RuleKind::Lower => "texts are lowered by",
    }
}

const fn lost(rule: &Rule) -> &'static str {
    match rule.kind {
        RuleKind::Deny if rule.observe => "records no longer name what would be denied by",
        RuleKind::Deny => "nothing is denied any more by",
        RuleKind::Approve => "no person is asked any more by",
        RuleKind::Allow => "guarded mode refuses what only was covered by",
        RuleKind::Tier => "texts are no longer raised by",
        RuleKind::Lower => "texts are no longer lowered by",
    }
}

/// Compares two rules of one name, part by part.
fn changed(name: &str, old: &Rule, new: &Rule, shown: &Shown<'_>, out: &mut Findings) {
    let [a, b] = shown.sides;
    let Rule {
        name: _,
        kind,
        tier,
        observe,
        ttl_s,
        because,
        scope,
        origin,
        conditions,
        examples,
        // They follow from the conditions.
        keys: _,
        at,
    } = new;
    let mut add = |part: &str, before: String, after: String, direction| {
        let change = Change::Value { before: Some(before), after: Some(after) };
        let found =
            finding(Kind::Rule, name, change, direction).part(part).at(Some(&old.at), Some(at));
        out.push(shown.rule(found, Some(old), Some(new)));
    };
    if old.kind != *kind {
        add("kind", old.kind.word().into(), kind.word().into(), Direction::NotProved);
    }
    if old.tier != *tier {
        let number = |tier: Option<relay_bundle::Tier>| {
            tier.map_or_else(String::new, |tier| tier.number().to_string())
        };
        add("tier", number(old.tier), number(*tier), Direction::of_demand(&old.tier, tier));
    }
    if old.observe != *observe {
        let direction = Direction::of_limit(&old.observe, observe);
        add("observe", old.observe.to_string(), observe.to_string(), direction);
    }
    if old.ttl_s != *ttl_s {
        let shown =
            |ttl: Option<u32>| ttl.map_or_else(|| "once".to_owned(), |ttl| format!("{ttl} s"));
        add("ttl", shown(old.ttl_s), shown(*ttl_s), Direction::of_limit(&old.ttl_s, ttl_s));
    }
    let reason = |because: &Option<Setting<String>>| {
        because.as_ref().map_or_else(String::new, |because| because.value.clone())
    };
    if reason(&old.because) != reason(because) {
        add("because", reason(&old.because), reason(because), Direction::Same);
    }
    let shown_scope = |bundle: &Bundle, scope: Option<u32>| {
        let scopes = bundle.policy().map_or(&[][..], |policy| &policy.scopes);
        scope.map_or_else(|| "everyone".to_owned(), |number| scope_name(scopes, number as usize))
    };
    let (before, after) = (shown_scope(a, old.scope), shown_scope(b, *scope));
    if before != after {
        add("scope", before, after, Direction::NotProved);
    }
    if old.origin != *origin {
        let shown =
            |origin: &Option<String>| origin.clone().unwrap_or_else(|| "the project".into());
        add("origin", shown(&old.origin), shown(origin), Direction::Same);
    }
    // The number of an automaton changes with other rules.
    let bare = |conditions: &[Condition]| {
        let bare: Vec<Condition> =
            conditions.iter().map(|it| Condition { automaton: None, ..it.clone() }).collect();
        meaning_of(&bare)
    };
    if bare(&old.conditions) != bare(conditions) {
        add("selectors", selectors(old), selectors(new), Direction::NotProved);
    }
    let listed = |all: &[Example], others: &[Example]| {
        let is_new = |it: &&Example| {
            !others.iter().any(|other| (&other.text, other.matches) == (&it.text, it.matches))
        };
        let line = |it: &Example| {
            format!("{} `{}`", if it.matches { "match" } else { "no-match" }, it.text)
        };
        all.iter().filter(is_new).map(line).collect::<Vec<_>>().join("; ")
    };
    let (lost, gained) = (listed(&old.examples, examples), listed(examples, &old.examples));
    if lost != gained {
        // A text that is tried no more is a promise that is gone.
        let direction = if lost.is_empty() { Direction::Same } else { Direction::NotProved };
        add("match lines", lost, gained, direction);
    }
}

/// Returns the selectors of a rule in one line.
#[must_use]
pub fn selectors(rule: &Rule) -> String {
    let mut line = String::new();
    let mut group = 0;
    for condition in &rule.conditions {
        if condition.group != group {
            group = condition.group;
            line.push_str(" except:");
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(condition.selector.word());
        if let Some(argument) = &condition.argument {
            line.push(' ');
            line.push_str(argument);
        }
        for value in &condition.values {
            line.push_str(&format!(" `{}`", value.value));
        }
        if !condition.except.is_empty() {
            line.push_str(" but not");
            for value in &condition.except {
                line.push_str(&format!(" `{}`", value.value));
            }
        }
        line.push(';');
    }
    line
}

fn mode(
    a: &Setting<Mode>,
    b: &Setting<Mode>,
    at: (&Place, &Place),
    shown: &Shown<'_>,
    out: &mut Findings,
) {
    let direction = Direction::of_demand(&a.value, &b.value);
    out.setting(
        Some(a),
        Some(b),
        |mode| mode.word().to_owned(),
        |change| {
            let found = finding(Kind::Policy, "", change, direction).part("mode");
            let modes = [Some(a.value), Some(b.value)];
            shown.mode(found.at(Some(at.0), Some(at.1)), modes, &[])
        },
    );
}

/// Compares the classes of paths that the projects name. A class may be in rules of both kinds.
fn classes(a: &Policy, b: &Policy, shown: &Shown<'_>, out: &mut Findings) {
    let rows = |policy: &Policy| -> BTreeMap<String, (String, Place)> {
        let rows = policy.classes.iter().map(|row| {
            let mut shown = row.patterns.join(" ");
            if !row.except.is_empty() {
                shown.push_str(&format!(" but not {}", row.except.join(" ")));
            }
            (row.name.clone(), (shown, row.at.clone()))
        });
        rows.collect()
    };
    values("class", rows(a), rows(b), out, &|found, name| {
        let rows = shown.policies().into_iter().flatten().flat_map(|policy| &policy.classes);
        let of_it = rows.filter(|row| row.name == name);
        let patterns = of_it.flat_map(|row| row.patterns.iter().chain(&row.except));
        let calls = candidates::of_paths(patterns.map(String::as_str));
        shown.naming(found, calls, Some(name))
    });
}

/// Compares the effects of other servers' tools.
fn tools(a: &Policy, b: &Policy, shown: &Shown<'_>, out: &mut Findings) {
    let rows = |policy: &Policy| -> BTreeMap<String, (String, Place)> {
        let rows = policy.tools.iter().flat_map(|row| {
            let effects: Vec<String> = row
                .arguments
                .iter()
                .map(|argument| format!("{} {}", argument.name, argument.effect.word()))
                .collect();
            let effects = effects.join(", ");
            row.patterns.iter().map(move |name| (name.clone(), (effects.clone(), row.at.clone())))
        });
        rows.collect()
    };
    values("tool", rows(a), rows(b), out, &|found, name| {
        shown.naming(found, candidates::of_tool(name, shown.policies()), None)
    });
}

fn values(
    kind: &str,
    old: BTreeMap<String, (String, Place)>,
    new: BTreeMap<String, (String, Place)>,
    out: &mut Findings,
    shown: &dyn Fn(Finding, &str) -> Finding,
) {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for name in names {
        let (before, after) = (old.get(name), new.get(name));
        if before.map(|(value, _)| value) == after.map(|(value, _)| value) {
            continue;
        }
        let value = |side: Option<&(String, Place)>| side.map(|(value, _)| value.clone());
        let change = Change::Value { before: value(before), after: value(after) };
        let found = finding(Kind::Policy, "", change, Direction::NotProved)
            .part(format!("{kind} {name}"))
            .at(before.map(|(_, at)| at), after.map(|(_, at)| at));
        out.push(shown(found, name));
    }
}
