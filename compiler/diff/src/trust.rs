//! Two trust files: the accepted signatures, and their uses.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::envelope::key_id;
use relay_bundle::trust::{Time, Trust, TrustedKey};

use crate::direction::Direction;
use crate::finding::{Area, Change, Finding, Findings, Kind};

/// Compares two trust files. More accepted signatures or bundles *loosen*.
#[must_use]
pub fn compare_trust(a: &Trust, b: &Trust) -> Vec<Finding> {
    let mut out = Findings::default();
    // The last two are lists, compared as texts below.
    let Trust {
        version,
        project,
        threshold,
        require,
        min_epoch,
        keys,
        revoked: _,
        allow_digests: _,
    } = b;
    let text = |value: &dyn ToString| Some(value.to_string());
    let mut compare = |part: &str, before: Option<String>, after: Option<String>, direction| {
        if before != after {
            let change = Change::Value { before, after };
            out.push(finding(Kind::Trust, "", change, direction).part(part));
        }
    };
    // Servers refuse a version lower than the last one, and forget the highest epoch with a higher
    // one. Each edit raises it; alone, a higher version only resets the epoch.
    let is_alone = Trust { version: *version, ..a.clone() } == *b;
    let version_direction = Direction::proved(a.version <= *version && !is_alone, true);
    compare("version", text(&a.version), text(version), version_direction);
    let project_direction = Direction::narrower_if(a.project.is_none());
    compare("project", a.project.clone(), project.clone(), project_direction);
    let threshold_direction = Direction::of_demand(&a.threshold, threshold);
    compare("threshold", text(&a.threshold), text(threshold), threshold_direction);
    let epoch_direction = Direction::of_demand(&a.min_epoch, min_epoch);
    compare("min-epoch", text(&a.min_epoch), text(min_epoch), epoch_direction);
    for role in union(a.require.keys(), require.keys()) {
        let (before, after) = (a.require.get(role), require.get(role));
        let direction = Direction::of_demand(&before, &after);
        let part = format!("require {role}");
        compare(&part, before.map(u32::to_string), after.map(u32::to_string), direction);
    }
    let mut list = |part: &str, before: Vec<String>, after: Vec<String>, more: Direction| {
        for item in union(before.iter(), after.iter()) {
            let (was, is) = (before.contains(item), after.contains(item));
            let held = |holds: bool| holds.then(|| item.clone());
            let direction = if is { more } else { reversed(more) };
            compare(part, held(was), held(is), direction);
        }
    };
    let texts = |of: &Trust| {
        let digests = of.revoked.digests.iter().map(ToString::to_string).collect();
        let allowed = of.allow_digests.iter().map(ToString::to_string).collect();
        (of.revoked.keys.iter().cloned().collect(), digests, allowed)
    };
    let ((keys_a, digests_a, allowed_a), (keys_b, digests_b, allowed_b)) = (texts(a), texts(b));
    list("revoked key", keys_a, keys_b, Direction::Narrower);
    list("revoked bundle", digests_a, digests_b, Direction::Narrower);
    list("allowed bundle", allowed_a, allowed_b, Direction::NotProved);
    compare_keys(&a.keys, keys, &mut out);
    out.sorted()
}

/// Compares the keys, each by its public key.
fn compare_keys(a: &[TrustedKey], b: &[TrustedKey], out: &mut Findings) {
    let by_id = |keys: &[TrustedKey]| -> BTreeMap<String, TrustedKey> {
        keys.iter().map(|key| (key_id(&key.public.0), key.clone())).collect()
    };
    let (a, b) = (by_id(a), by_id(b));
    for id in union(a.keys(), b.keys()) {
        let named = |key: &TrustedKey| format!("{} {id}", key.name);
        match (a.get(id), b.get(id)) {
            (None, None) => {}
            (None, Some(new)) => {
                let added = finding(Kind::Key, &named(new), Change::Added, Direction::NotProved);
                out.push(added.meaning("its signatures count"));
            }
            (Some(old), None) => {
                let gone = finding(Kind::Key, &named(old), Change::Removed, Direction::Narrower);
                out.push(gone.meaning("its signatures no longer count"));
            }
            (Some(old), Some(new)) => compare_key(&named(new), old, new, out),
        }
    }
}

fn compare_key(name: &str, a: &TrustedKey, b: &TrustedKey, out: &mut Findings) {
    let TrustedKey { name: new_name, id: _, public: _, roles, not_before, not_after } = b;
    let mut compare = |part: &str, before: Option<String>, after: Option<String>, direction| {
        if before != after {
            let change = Change::Value { before, after };
            out.push(finding(Kind::Key, name, change, direction).part(part));
        }
    };
    compare("name", Some(a.name.clone()), Some(new_name.clone()), Direction::Same);
    let listed = |roles: &BTreeSet<String>| {
        (!roles.is_empty()).then(|| roles.iter().cloned().collect::<Vec<_>>().join(", "))
    };
    let within = roles.is_subset(&a.roles);
    compare("roles", listed(&a.roles), listed(roles), Direction::narrower_if(within));
    let text = |time: &Option<Time>| time.as_ref().map(ToString::to_string);
    let later = match (&a.not_before, not_before) {
        (None, Some(_)) => true,
        (Some(before), Some(after)) => before <= after,
        (_, None) => false,
    };
    compare("not-before", text(&a.not_before), text(not_before), Direction::narrower_if(later));
    let earlier = match (&a.not_after, not_after) {
        (None, Some(_)) => true,
        (Some(before), Some(after)) => after <= before,
        (_, None) => false,
    };
    compare("not-after", text(&a.not_after), text(not_after), Direction::narrower_if(earlier));
}

/// Returns the direction of a removal, from that of the addition.
fn reversed(direction: Direction) -> Direction {
    match direction {
        Direction::NotProved => Direction::Narrower,
        Direction::Same => Direction::Same,
        Direction::Narrower => Direction::NotProved,
    }
}

fn union<'k>(
    a: impl Iterator<Item = &'k String>,
    b: impl Iterator<Item = &'k String>,
) -> BTreeSet<&'k String> {
    a.chain(b).collect()
}

fn finding(kind: Kind, name: &str, change: Change, direction: Direction) -> Finding {
    Finding::new(Area::Authority, kind, name, change).direction(direction)
}
