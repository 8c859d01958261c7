//! Sub-commands: the meaning of a word, before and after.

use std::collections::BTreeSet;

use relay_policy::facts::{Flag, Node, Operand, Role, Special, Value};
use relay_policy::tier::{Floor, Floors, Tier};

use super::difference::{Concept, Difference, Row, located};
use super::side::{Command, Comparison};
use crate::direction::Direction;

/// Compares the sub-commands of a command, by the meaning of each name on both sides, and returns
/// the pairs to compare.
pub(super) fn compare<'k>(
    a: &Command<'k>,
    b: &Command<'k>,
    all: &mut Comparison<'k>,
) -> Vec<(Command<'k>, Command<'k>)> {
    let mut both = Vec::new();
    let names = |command: &Command<'k>| -> BTreeSet<&'k str> {
        command.node.subs.iter().flat_map(|sub| &sub.names).map(String::as_str).collect()
    };
    let (of_a, of_b) = (names(a), names(b));
    let mut pairs: Vec<(Option<usize>, Option<usize>, Vec<&str>)> = Vec::new();
    for name in of_a.union(&of_b) {
        let (old, new) = (meant(a.node, name), meant(b.node, name));
        match pairs.iter_mut().find(|(x, y, _)| (*x, *y) == (old, new)) {
            Some((_, _, names)) => names.push(name),
            None => pairs.push((old, new, vec![name])),
        }
    }
    for (old, new, names) in pairs {
        let (old, new) = (old.and_then(|at| a.sub(at)), new.and_then(|at| b.sub(at)));
        match (old, new) {
            (Some(old), Some(new)) => both.push((old, new)),
            (Some(old), None) => lost(a, b, &old, &names, all),
            (None, Some(new)) => added(b, &new, &names, all),
            (None, None) => {}
        }
    }
    both
}

/// Returns the sub-command of a name or pattern: its own, else the longest matching pattern.
fn meant(node: &Node, name: &str) -> Option<usize> {
    let has = |sub: &Node| sub.names.iter().any(|it| it == name);
    if let Some(at) = node.subs.iter().position(has) {
        return Some(at);
    }
    let mut best: Option<(usize, usize)> = None;
    for (at, sub) in node.subs.iter().enumerate() {
        for pattern in sub.names.iter().filter(|pattern| covers(pattern, name)) {
            if best.is_none_or(|(length, _)| pattern.len() > length) {
                best = Some((pattern.len(), at));
            }
        }
    }
    best.map(|(_, at)| at)
}

/// Returns whether a pattern covers every word of another pattern or name.
fn covers(pattern: &str, name: &str) -> bool {
    match (pattern.strip_suffix('*'), pattern.strip_prefix('*')) {
        (Some(start), _) => name.starts_with(start),
        (None, Some(end)) => name.ends_with(end),
        (None, None) => false,
    }
}

/// Reports a removed sub-command: it is unknown now, and the words after it stay unread.
fn lost<'k>(
    a: &Command<'k>,
    b: &Command<'k>,
    old: &Command<'k>,
    names: &[&str],
    all: &mut Comparison<'k>,
) {
    let floor = all.after.tier(Floor::UnknownProgram);
    let highest = highest(old, a.node, all.before);
    let is_script = b.node.operands.first().is_some_and(|it| it.role == Role::Script);
    let has_pattern = names.iter().any(|name| name.contains('*'))
        && b.node.subs.iter().flat_map(|sub| &sub.names).any(|name| name.contains('*'));
    let is_narrower = highest.is_some_and(|tier| tier <= floor) && !is_script && !has_pattern;
    all.out.push(Difference {
        part: located(&b.names, &format!("sub-command {}", names.join(" "))),
        commands: b.called(),
        concept: Concept::SubCommand(called(names)),
        before: Some(tier_word(old.node.tier)),
        after: Some(format!("unknown, tier {}", floor.number())),
        direction: Direction::narrower_if(is_narrower),
        row: Row::node(&b.row),
        lowers: false,
    });
}

/// Reports a newly declared sub-command: it was unknown with any options.
fn added<'k>(b: &Command<'k>, new: &Command<'k>, names: &[&str], all: &mut Comparison<'k>) {
    let floor = all.before.tier(Floor::UnknownProgram);
    all.out.push(Difference {
        part: located(&b.names, &format!("sub-command {}", names.join(" "))),
        commands: b.called(),
        concept: Concept::SubCommand(called(names)),
        before: Some(format!("unknown, tier {}", floor.number())),
        after: Some(tier_word(new.node.tier)),
        direction: Direction::NotProved,
        row: Row::node(&new.row),
        lowers: new.node.tier.is_some_and(|tier| tier < floor),
    });
}

fn called(names: &[&str]) -> String {
    names.first().map(|name| name.replace('*', "x")).unwrap_or_default()
}

fn tier_word(tier: Option<Tier>) -> String {
    tier.map_or("no tier".into(), |tier| format!("tier {}", tier.number()))
}

/// Returns the highest tier of any command of a sub-command, if its facts alone decide it; `None`
/// if paths, code, hosts or written files decide too.
fn highest(command: &Command<'_>, around: &Node, floors: Floors) -> Option<Tier> {
    let node = command.node;
    let is_plain = node.subs.is_empty()
        && node.special == Special::Nothing
        && node.stdin == Role::Text
        && !node.sends
        && node.writes.is_empty()
        && node.output == around.output;
    is_plain.then_some(())?;
    let mut highest = node.tier.unwrap_or(floors.tier(Floor::UnknownProgram));
    highest = highest.max(floors.tier(Floor::UnknownFlag));
    for Flag { tier, role, values, .. } in command.options.flags() {
        highest = highest.max(*tier).max(of_values(*role, values, floors)?);
    }
    let in_forms = node.forms.iter().flat_map(|form| &form.operands);
    for Operand { role, values, .. } in node.operands.iter().chain(in_forms) {
        highest = highest.max(of_values(*role, values, floors)?);
    }
    for form in &node.forms {
        let is_plain = form.roles.iter().all(|(_, role)| is_nothing(*role))
            && form.output.is_none_or(|output| output == around.output)
            && form.stdin.is_none_or(|role| role == Role::Text)
            && form.writes.is_empty();
        is_plain.then_some(())?;
        highest = highest.max(form.tier);
    }
    Some(highest)
}

/// Returns the highest tier of certain values; `None` if something else decides it.
fn of_values(role: Role, values: &[Value], floors: Floors) -> Option<Tier> {
    let is_plain = is_nothing(role) && values.iter().all(|value| is_nothing(value.role));
    is_plain.then_some(())?;
    let highest = values.iter().map(|value| value.tier).max().unwrap_or_default();
    // A deciding word other than a literal counts as the highest, an undeclared one as a doubt.
    Some(highest.max(if values.is_empty() {
        Tier::ReadOnly
    } else {
        floors.tier(Floor::UnknownFlag)
    }))
}

const fn is_nothing(role: Role) -> bool {
    matches!(role, Role::Text | Role::Placeholder | Role::User | Role::Listen)
}
