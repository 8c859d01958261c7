//! Whether a condition means a host, by any of its names.

use std::iter::once;

use super::condition::Condition;
use super::fit::Fit;
use super::glob::{glob_fit, value_fit};
use crate::inventory::{Inventory, KnownHost};
use crate::value::{Mark, is_mark};

/// The most known hosts that an uncertain value is compared with. Beyond it, any of them may be meant.
const CANDIDATES_MAX: usize = 64;

/// Returns whether a condition means a host in its one spelling: an address of several known hosts is
/// certain only where all of them agree.
pub(super) fn host_fit(inventory: &Inventory, condition: &Condition<'_>, host: &str) -> Fit {
    let fit = |known: Option<&KnownHost>| {
        condition.any(|pattern| {
            let others = known.into_iter().flat_map(KnownHost::names);
            Fit::any(once(host).chain(others).map(|name| glob_fit(pattern, name)))
        })
    };
    let mut known = inventory.called(host).peekable();
    match known.peek() {
        None => fit(None),
        Some(_) => agreed(known.map(|host| fit(Some(host)))),
    }
}

/// Returns whether a condition means a host with an unknown part: it may be each known host of such a
/// name.
pub(super) fn open_host_fit(inventory: &Inventory, condition: &Condition<'_>, value: &[u8]) -> Fit {
    let value = &open_host(value)[..];
    let own = condition.any(|pattern| value_fit(pattern, value));
    let may_be = |host: &&KnownHost| host.names().any(|name| value_fit(name, value) != Fit::No);
    let candidates = inventory.all().iter().filter(may_be).take(CANDIDATES_MAX + 1);
    let candidates: Vec<_> = candidates.collect();
    if candidates.len() > CANDIDATES_MAX {
        return Fit::Maybe;
    }
    let fits = candidates.into_iter().map(|host| {
        condition.any(|pattern| {
            let named = host.names().map(|name| glob_fit(pattern, name));
            value_fit(pattern, value).max(Fit::any(named))
        })
    });
    agreed(once(own).chain(fits))
}

/// Returns a host with an unknown part, as patterns see it: what precedes the last unknown part may be a
/// user, since that part may be `@db1`; what follows may be digits of an address in any spelling.
fn open_host(value: &[u8]) -> Vec<u8> {
    let known = value.iter().rposition(|byte| is_mark(*byte)).map_or(0, |last| last + 1);
    let end = value.get(known..).unwrap_or_default().to_ascii_lowercase();
    let end = end.strip_suffix(b".").unwrap_or(&end);
    let may_be_number = |byte: &u8| byte.is_ascii_hexdigit() || b".x:[]".contains(byte);
    match end.iter().all(may_be_number) {
        true => Mark::Hole.text().to_vec(),
        false => [Mark::Hole.text(), end].concat(),
    }
}

/// Returns what all fits say; where they differ, it is open.
fn agreed(fits: impl IntoIterator<Item = Fit>) -> Fit {
    let each = |one: Fit, other: Fit| if one == other { one } else { Fit::Maybe };
    fits.into_iter().reduce(each).unwrap_or(Fit::No)
}
