//! The rules of a policy, its mode, classes and tools of other servers.
//!
//! A rule is compared as a whole. What cannot be shown to be narrower loosens.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{
    Bundle, Condition, Example, Place, Policy, Rule, RuleKind, Selector, Setting, Subject,
    meaning_of,
};

use crate::candidates;
use crate::direction::Direction;
use crate::finding::{Area, Change, Finding, Findings, Kind};
use crate::reversal;
use crate::scope::{self, limits, scope_name};
use crate::shown::Shown;

/// Compares the rules of two bundles.
pub(crate) fn compare(shown: &Shown<'_>, out: &mut Findings) {
    let (old, new) = (&shown.old, &shown.new);
    if let [before, Some(after)] = shown.policies() {
        mode(before, after, shown, out);
    }
    if let [Some(before), Some(after)] = shown.policies() {
        scope::compare(before, after, shown, out);
        classes(before, after, shown, out);
        tools(before, after, shown, out);
    }
    for (name, rule) in old {
        if !new.contains_key(name) {
            let gone = finding(Kind::Rule, name, Change::Removed, removal(rule, shown))
                .at(Some(&rule.at), None)
                .meaning(format!("{} {name}", lost(rule)));
            out.push(shown.rule(gone, Some(rule), None));
        }
    }
    for (name, rule) in new {
        match old.get(name) {
            None => {
                let added = finding(Kind::Rule, name, Change::Added, addition(rule, shown))
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
fn addition(rule: &Rule, shown: &Shown<'_>) -> Direction {
    match rule.kind {
        RuleKind::Deny if rule.observe => Direction::Same,
        RuleKind::Deny => Direction::Narrower,
        RuleKind::Tier => raising(shown),
        // A person's yes admits calls that the mode refuses.
        RuleKind::Approve | RuleKind::Allow | RuleKind::Lower => Direction::NotProved,
    }
}

/// Returns the direction of a rule that is gone.
fn removal(rule: &Rule, shown: &Shown<'_>) -> Direction {
    match rule.kind {
        RuleKind::Deny if rule.observe => Direction::Same,
        RuleKind::Allow => Direction::Narrower,
        RuleKind::Lower => raising(shown),
        // Without an approval, no one is asked.
        RuleKind::Deny | RuleKind::Tier | RuleKind::Approve => Direction::NotProved,
    }
}

/// Returns the direction of a rise of tiers.
fn raising(shown: &Shown<'_>) -> Direction {
    Direction::narrower_if(reversal::of_tiers(shown).is_none())
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
        let direction = match Direction::of_demand(&old.tier, tier) {
            Direction::Narrower => raising(shown),
            direction => direction,
        };
        add("tier", number(old.tier), number(*tier), direction);
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
        let limits = |bundle: &Bundle, scope| {
            limits(bundle.policy().map_or(&[][..], |policy| &policy.scopes), scope)
        };
        let (of_a, of_b) = (limits(a, old.scope), limits(b, *scope));
        let direction = match (old.kind, kind) {
            _ if of_a == of_b => Direction::Same,
            (RuleKind::Deny, RuleKind::Deny) => Direction::narrower_if(of_b.is_subset(&of_a)),
            (RuleKind::Allow, RuleKind::Allow) => Direction::narrower_if(of_a.is_subset(&of_b)),
            _ => Direction::NotProved,
        };
        add("scope", before, after, direction);
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
        let direction = match (old.kind, kind) {
            (RuleKind::Deny, RuleKind::Deny) => {
                Direction::narrower_if(means_more(&old.conditions, conditions))
            }
            (RuleKind::Tier, RuleKind::Tier) if means_more(&old.conditions, conditions) => {
                raising(shown)
            }
            _ => Direction::NotProved,
        };
        add("selectors", selectors(old), selectors(new), direction);
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

/// Returns whether a rule that restricts is proved to mean all that it meant: each of its conditions
/// follows from one before, and each exception is one of those before.
fn means_more(old: &[Condition], new: &[Condition]) -> bool {
    let own = |conditions: &[Condition]| -> Vec<Condition> {
        conditions.iter().filter(|it| it.group == 0).cloned().collect()
    };
    let texts = |values: &[Setting<String>]| -> BTreeSet<String> {
        values.iter().map(|value| value.value.clone()).collect()
    };
    let follows = |new: &Condition, old: &Condition| {
        // A tier and a regex are no lists of values.
        let is_list =
            !matches!(new.selector, Selector::TierMin | Selector::TierMax | Selector::Text);
        let (of_old, of_new) = (texts(&old.values), texts(&new.values));
        new.selector == old.selector
            && new.argument == old.argument
            && (of_old == of_new || is_list && of_old.is_subset(&of_new))
            && texts(&new.except).is_subset(&texts(&old.except))
    };
    let exceptions = |conditions: &[Condition]| -> BTreeSet<Vec<String>> {
        let groups: BTreeSet<u8> = conditions.iter().map(|it| it.group).collect();
        let in_group = |group: u8| {
            let own = conditions.iter().filter(|it| it.group == group);
            let mut own: Vec<String> = own
                .map(|it| {
                    let (values, except) = (texts(&it.values), texts(&it.except));
                    format!("{:?} {:?} {values:?} {except:?}", it.selector, it.argument)
                })
                .collect();
            own.sort_unstable();
            own
        };
        groups.into_iter().filter(|group| *group > 0).map(in_group).collect()
    };
    let subjects = |conditions: &[Condition]| -> BTreeSet<Subject> {
        conditions.iter().map(|it| it.selector.subject()).collect()
    };
    let (own_old, own_new) = (own(old), own(new));
    let (except_old, except_new) = (exceptions(old), exceptions(new));
    own_new.iter().all(|new| own_old.iter().any(|old| follows(new, old)))
        && except_new.is_subset(&except_old)
        // An exception leaves out a call, an effect or the request, as the rule itself selects them.
        && (except_new.is_empty() || subjects(&own_old) == subjects(&own_new))
}

/// Returns the selectors of a rule in one line.
#[must_use]
pub fn selectors(rule: &Rule) -> String {
    let mut line = String::new();
    let mut group = 0;
    for condition in &rule.conditions {
        if condition.group != group {
            group = condition.group;
            line.push_str(if line.is_empty() { "except:" } else { "; except:" });
            line.push(' ');
        } else if !line.is_empty() {
            line.push_str("; ");
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
    }
    line
}

fn mode(a: Option<&Policy>, b: &Policy, shown: &Shown<'_>, out: &mut Findings) {
    let direction = match a {
        Some(a) => Direction::of_demand(&a.mode.value, &b.mode.value),
        // Without a policy, no command may run, and no tool of another server.
        None => Direction::NotProved,
    };
    out.setting(
        a.map(|policy| &policy.mode),
        Some(&b.mode),
        |mode| mode.word().to_owned(),
        |change| {
            let found = finding(Kind::Policy, "", change, direction).part("mode");
            let found = found.at(a.map(|policy| &policy.at), Some(&b.at));
            match a {
                Some(a) => shown.mode(found, [Some(a.mode.value), Some(b.mode.value)], &[]),
                None => {
                    let found = found.meaning("without a policy, no command runs");
                    shown.naming(found, shown.common(), None)
                }
            }
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
        // The effects of all rows that match a tool hold together.
        let mut rows: BTreeMap<&String, (BTreeSet<String>, &Place)> = BTreeMap::new();
        for row in &policy.tools {
            for name in &row.patterns {
                let (effects, _) = rows.entry(name).or_insert((BTreeSet::new(), &row.at));
                let words = row.arguments.iter();
                effects.extend(words.map(|it| format!("{} {}", it.name, it.effect.word())));
            }
        }
        let joined = |effects: BTreeSet<String>| effects.into_iter().collect::<Vec<_>>().join(", ");
        let rows = rows.into_iter();
        rows.map(|(name, (effects, at))| (name.clone(), (joined(effects), at.clone()))).collect()
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
