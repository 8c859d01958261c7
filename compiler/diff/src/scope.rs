//! The scopes of a policy: their names, their callers and hosts, and their modes.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Mode, Place, Policy, Scope};

use crate::direction::Direction;
use crate::finding::{Area, Change, Finding, Findings, Kind};
use crate::flip::Caller;
use crate::shown::Shown;

/// Returns the name of a scope for people: `tenant=acme role=observer`.
#[must_use]
pub fn scope_name(scopes: &[Scope], number: usize) -> String {
    let Some(scope) = scopes.get(number) else { return String::new() };
    let Scope { parent, tenant, role, hosts, mode: _, at: _ } = scope;
    let mut parts = Vec::new();
    // INVARIANT: a scope follows the one around it.
    if let Some(parent) = parent.filter(|parent| (*parent as usize) < number) {
        parts.push(scope_name(scopes, parent as usize));
    }
    parts.extend(tenant.iter().map(|tenant| format!("tenant={tenant}")));
    parts.extend(role.iter().map(|role| format!("role={role}")));
    parts.extend(hosts.iter().map(|host| format!("host={host}")));
    parts.join(" ")
}

/// A scope with a mode of its own.
struct Row<'p> {
    mode: Mode,
    /// The names of the scopes around it that have modes, the nearest first.
    around: Vec<String>,
    /// Its mode with those of the scopes in it, as text; equal for scopes that decide alike.
    tree: String,
    has_inner: bool,
    at: &'p Place,
    callers: (Caller, Vec<String>),
}

/// The scopes of each name: a project may have several.
type Rows<'p> = BTreeMap<String, Vec<Row<'p>>>;

/// Compares the modes of scopes, by the names of the scopes.
pub(crate) fn compare(a: &Policy, b: &Policy, shown: &Shown<'_>, out: &mut Findings) {
    let (old, new) = (rows(&a.scopes), rows(&b.scopes));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for name in names {
        let sides = [&old, &new].map(|side| side.get(name).map_or(&[][..], Vec::as_slice));
        let [before, after] = sides;
        // Of several scopes with the same callers and hosts, the narrowest mode counts.
        let modes = sides.map(|rows| rows.iter().map(|row| row.mode).max());
        let trees = sides.map(|rows| rows.iter().map(|row| row.tree.as_str()).collect::<Vec<_>>());
        // A scope that only one side has is a difference of its own.
        let around = sides.map(|rows| {
            let is_of_both = |name: &&String| old.contains_key(*name) && new.contains_key(*name);
            let around = rows.iter().map(|row| row.around.iter().find(is_of_both));
            around.collect::<BTreeSet<_>>()
        });
        let is_moved = !before.is_empty() && !after.is_empty() && around[0] != around[1];
        // One of several scopes may be overridden by those in it, and the others not.
        let is_mixed = sides.iter().any(|rows| rows.len() > 1)
            && before.iter().chain(after).any(|row| row.has_inner);
        let direction = match modes {
            _ if is_mixed && trees[0] != trees[1] => Direction::NotProved,
            _ if is_mixed => continue,
            _ if is_moved => Direction::NotProved,
            [of_a, of_b] if of_a == of_b => continue,
            // Without its own mode, a scope has that of the policy, or of a scope around it.
            [Some(before), Some(after)] => Direction::of_demand(&before, &after),
            [None, Some(Mode::Readonly)] | [Some(Mode::Open), None] => Direction::Narrower,
            _ => Direction::NotProved,
        };
        let [before_word, after_word] = [0, 1].map(|side| {
            let rows: &[Row<'_>] = sides.get(side).copied().unwrap_or_default();
            let mut words: Vec<String> = match is_mixed {
                true => rows.iter().map(|row| row.tree.clone()).collect(),
                false => rows.iter().map(|row| row.mode.word().to_owned()).collect(),
            };
            let around = around.get(side).into_iter().flatten().flatten();
            words.extend(around.filter(|_| is_moved).map(|name| format!("in {name}")));
            (!words.is_empty()).then(|| words.join(", "))
        });
        let change = Change::Value { before: before_word, after: after_word };
        let callers: Vec<_> = after.iter().chain(before).map(|row| row.callers.clone()).collect();
        let found = Finding::new(Area::Authority, Kind::Scope, name.as_str(), change)
            .direction(direction)
            .part("mode")
            .at(before.first().map(|row| row.at), after.first().map(|row| row.at));
        let modes = if is_mixed || is_moved { [None, None] } else { modes };
        out.push(shown.mode(found, modes, &callers));
    }
}

fn rows(scopes: &[Scope]) -> Rows<'_> {
    let mut rows: Rows<'_> = BTreeMap::new();
    for (number, scope) in scopes.iter().enumerate() {
        let Some(mode) = &scope.mode else { continue };
        let Ok(id) = u32::try_from(number) else { continue };
        let around = std::iter::successors(with_mode_around(scopes, number), |number| {
            with_mode_around(scopes, *number)
        });
        let tree = tree(scopes, number);
        let row = Row {
            mode: mode.value,
            around: around.map(|number| scope_name(scopes, number)).collect(),
            has_inner: tree.contains('{'),
            tree,
            at: &scope.at,
            callers: (Caller::of_scope(scopes, id), hosts(scopes, id)),
        };
        rows.entry(scope_name(scopes, number)).or_default().push(row);
    }
    rows.values_mut().for_each(|rows| rows.sort_by(|a, b| a.tree.cmp(&b.tree)));
    rows
}

/// Returns the nearest scope with a mode around a scope.
fn with_mode_around(scopes: &[Scope], number: usize) -> Option<usize> {
    let parent = scopes.get(number)?.parent? as usize;
    // INVARIANT: a scope follows the one around it, so this ends.
    let scope = scopes.get(parent).filter(|_| parent < number)?;
    match scope.mode {
        Some(_) => Some(parent),
        None => with_mode_around(scopes, parent),
    }
}

/// Returns the name of a scope with its mode and those of the scopes in it.
pub(crate) fn named_tree(scopes: &[Scope], number: usize) -> String {
    format!("{}: {}", scope_name(scopes, number), tree(scopes, number))
}

/// Returns the mode of a scope with those of the scopes in it.
fn tree(scopes: &[Scope], number: usize) -> String {
    let mode = scopes.get(number).and_then(|scope| scope.mode.as_ref());
    let mode = mode.map_or("", |mode| mode.value.word());
    let inner = (number + 1..scopes.len()).filter(|inner| {
        scopes.get(*inner).is_some_and(|scope| scope.mode.is_some())
            && with_mode_around(scopes, *inner) == Some(number)
    });
    let inner = inner.map(|inner| named_tree(scopes, inner));
    let mut inner: Vec<String> = inner.collect();
    inner.sort_unstable();
    if inner.is_empty() { mode.to_owned() } else { format!("{mode} {{ {} }}", inner.join("; ")) }
}

/// Returns the limits of the callers and hosts of a scope, with those around it: a scope with fewer
/// of them is for more callers and hosts.
pub(crate) fn limits(scopes: &[Scope], number: Option<u32>) -> BTreeSet<(&'static str, String)> {
    let mut limits = BTreeSet::new();
    let mut next = number;
    while let Some(number) = next {
        let Some(scope) = scopes.get(number as usize) else { break };
        limits.extend(scope.tenant.iter().map(|name| ("tenant", name.clone())));
        limits.extend(scope.role.iter().map(|name| ("role", name.clone())));
        if !scope.hosts.is_empty() {
            limits.insert(("host", scope.hosts.join(" ")));
        }
        next = scope.parent.filter(|parent| *parent < number);
    }
    limits
}

/// Returns hosts of a scope and of those around it.
pub(crate) fn hosts(scopes: &[Scope], number: u32) -> Vec<String> {
    let mut next = Some(number);
    while let Some(number) = next {
        let Some(scope) = scopes.get(number as usize) else { break };
        if !scope.hosts.is_empty() {
            return scope.hosts.clone();
        }
        next = scope.parent.filter(|parent| *parent < number);
    }
    Vec::new()
}
