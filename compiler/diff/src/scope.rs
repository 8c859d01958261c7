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

/// Compares the modes of scopes, by the names of the scopes.
pub(crate) fn compare(a: &Policy, b: &Policy, shown: &Shown<'_>, out: &mut Findings) {
    type Row = (Mode, Place, (Caller, Vec<String>));
    let modes = |policy: &Policy| -> BTreeMap<String, Row> {
        let scopes = policy.scopes.iter().enumerate().filter_map(|(number, scope)| {
            let mode = scope.mode.as_ref()?.value;
            let name = scope_name(&policy.scopes, number);
            let number = u32::try_from(number).ok()?;
            let who = (caller(&policy.scopes, number), hosts(&policy.scopes, number));
            Some((name, (mode, scope.at.clone(), who)))
        });
        scopes.collect()
    };
    let (old, new) = (modes(a), modes(b));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for name in names {
        let (before, after) = (old.get(name), new.get(name));
        let (of_a, of_b) = (before.map(|(mode, ..)| *mode), after.map(|(mode, ..)| *mode));
        if of_a == of_b {
            continue;
        }
        // Without its own mode, a scope has that of the policy, or of a scope around it.
        let direction = match (of_a, of_b) {
            (Some(before), Some(after)) => Direction::of_demand(&before, &after),
            (None, Some(Mode::Readonly)) | (Some(Mode::Open), None) => Direction::Narrower,
            _ => Direction::NotProved,
        };
        let word = |mode: Option<Mode>| mode.map(|mode| mode.word().to_owned());
        let change = Change::Value { before: word(of_a), after: word(of_b) };
        let who: Vec<(Caller, Vec<String>)> =
            [after, before].into_iter().flatten().map(|(_, _, who)| who.clone()).collect();
        let found = Finding::new(Area::Authority, Kind::Scope, name.as_str(), change)
            .direction(direction)
            .part("mode")
            .at(before.map(|(_, at, _)| at), after.map(|(_, at, _)| at));
        out.push(shown.mode(found, [of_a, of_b], &who));
    }
}

/// Returns the callers of a scope, with those around it.
pub(crate) fn caller(scopes: &[Scope], number: u32) -> Caller {
    let mut caller = Caller::default();
    let mut next = Some(number);
    while let Some(number) = next {
        let Some(Scope { parent, tenant, role, .. }) = scopes.get(number as usize) else { break };
        caller.tenant = caller.tenant.or_else(|| tenant.clone());
        caller.role = caller.role.or_else(|| role.clone());
        // INVARIANT: a scope follows the one around it, so this ends.
        next = parent.filter(|parent| *parent < number);
    }
    caller
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
