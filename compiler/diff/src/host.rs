//! The hosts that a project knows: which may be reached, how their keys are checked, and by which names
//! rules mean them.

use std::collections::BTreeMap;

use relay_bundle::{Bundle, Host, Hosts, KnownHosts, Outside, Setting};

use crate::direction::Direction;
use crate::finding::{Area, Change, Finding, Findings, Kind};

/// Compares the hosts of two bundles.
pub(crate) fn compare(a: &Bundle, b: &Bundle, out: &mut Findings) {
    let (a, b) = (a.hosts(), b.hosts());
    match (a, b) {
        (None, None) => return,
        // With a list, hosts outside it may be refused; and rules mean more hosts than before.
        (None, Some(b)) => out.push(settings(Change::Added).at(None, Some(&b.at))),
        (Some(a), None) => out.push(settings(Change::Removed).at(Some(&a.at), None)),
        (Some(a), Some(b)) => compare_settings(a, b, out),
    }
    let by_alias = |hosts: Option<&Hosts>| -> BTreeMap<String, Host> {
        let all = hosts.map(|hosts| hosts.hosts.clone()).unwrap_or_default();
        all.into_iter().map(|host| (host.alias.clone(), host)).collect()
    };
    let (mut before, after) = (by_alias(a), by_alias(b));
    for (alias, new) in after {
        match before.remove(&alias) {
            Some(old) => compare_host(&old, &new, out),
            None => out.push(host(&alias, Change::Added).at(None, Some(&new.at))),
        }
    }
    for (alias, old) in before {
        // Rules that named it by its groups or its alias stop meaning its address.
        out.push(host(&alias, Change::Removed).at(Some(&old.at), None));
    }
}

/// Returns a finding about all hosts.
fn settings(change: Change) -> Finding {
    Finding::new(Area::Authority, Kind::Hosts, "", change).direction(Direction::NotProved)
}

/// Returns a finding about a host.
fn host(alias: &str, change: Change) -> Finding {
    Finding::new(Area::Authority, Kind::Host, alias, change).direction(Direction::NotProved)
}

fn compare_settings(a: &Hosts, b: &Hosts, out: &mut Findings) {
    // Taken apart in full, so that a new setting asks to be compared.
    let Hosts { known_hosts, outside, weaken, hosts: _, at } = b;
    let found = |change, part: &str, direction| {
        settings(change).part(part).direction(direction).at(Some(&a.at), Some(at))
    };
    let direction = Direction::of_demand(&a.known_hosts.value, &known_hosts.value);
    let word = |check: &KnownHosts| check.word().to_owned();
    out.setting(Some(&a.known_hosts), Some(known_hosts), word, |change| {
        found(change, "known-hosts", direction)
    });
    let direction = Direction::narrower_if(outside.value == Outside::Refuse);
    let word = |outside: &Outside| outside.word().to_owned();
    out.setting(Some(&a.outside), Some(outside), word, |change| {
        found(change, "outside", direction)
    });
    let direction = Direction::of_limit(&a.weaken.value, &weaken.value);
    out.setting(Some(&a.weaken), Some(weaken), ToString::to_string, |change| {
        found(change, "weaken", direction)
    });
}

fn compare_host(a: &Host, b: &Host, out: &mut Findings) {
    let Host { alias, address, user, port, jump, key, known_hosts, groups, pins, at } = b;
    let found = |change, part: &str, direction| {
        host(alias, change).part(part).direction(direction).at(Some(&a.at), Some(at))
    };
    let mut text = |part: &str, old: &Option<Setting<String>>, new: &Option<Setting<String>>| {
        out.setting(old.as_ref(), new.as_ref(), Clone::clone, |change| {
            found(change, part, Direction::NotProved)
        });
    };
    text("address", &a.address, address);
    text("user", &a.user, user);
    text("jump", &a.jump, jump);
    text("key", &a.key, key);
    out.setting(Some(&a.port), Some(port), ToString::to_string, |change| {
        found(change, "port", Direction::NotProved)
    });
    let direction = match (&a.known_hosts, known_hosts) {
        (Some(old), Some(new)) => Direction::of_demand(&old.value, &new.value),
        (_, new) => {
            Direction::narrower_if(new.as_ref().is_some_and(|new| new.value == KnownHosts::Strict))
        }
    };
    let word = |check: &KnownHosts| check.word().to_owned();
    out.setting(a.known_hosts.as_ref(), known_hosts.as_ref(), word, |change| {
        found(change, "known-hosts", direction)
    });
    list("groups", (&a.groups, groups), Direction::NotProved, &mut |change, part, direction| {
        out.push(found(change, part, direction));
    });
    // With pins, only these keys are trusted; without, all that the check of keys admits.
    let is_pinned = |key: &Setting<String>| a.pins.iter().any(|pin| pin.value == key.value);
    let is_narrower = !pins.is_empty() && (a.pins.is_empty() || pins.iter().all(is_pinned));
    let direction = Direction::narrower_if(is_narrower);
    list("pins", (&a.pins, pins), direction, &mut |change, part, direction| {
        out.push(found(change, part, direction));
    });
}

/// Compares two lists, of which the order says nothing.
fn list(
    part: &str,
    (a, b): (&[Setting<String>], &[Setting<String>]),
    direction: Direction,
    found: &mut dyn FnMut(Change, &str, Direction),
) {
    let texts = |list: &[Setting<String>]| {
        let mut texts: Vec<String> = list.iter().map(|item| item.value.clone()).collect();
        texts.sort_unstable();
        texts
    };
    let (before, after) = (texts(a), texts(b));
    if before != after {
        let shown = |list: Vec<String>| Some(list.join(" ")).filter(|text| !text.is_empty());
        found(Change::Value { before: shown(before), after: shown(after) }, part, direction);
    }
}
