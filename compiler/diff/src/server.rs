//! Two `server.toml`: the admitted callers, and the trusted keys.
//!
//! The settings are compared by their paths: their types are known to the server alone. So a change
//! *loosens* unless it is known to admit fewer callers or to decide nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::direction::Direction;
use crate::finding::{Area, Change, Finding, Findings, Kind};

/// The settings of a server: the value of each, in words, by its path. An entry of a list has its id in
/// the path: `auth.api-keys.alice.tenant`.
pub type ServerSettings = BTreeMap<Vec<String>, String>;

/// The settings that leave admission and trust as they are.
const DECIDE_NOTHING: [&str; 3] = ["limits", "watch", "log"];
/// The lists of callers and issuers: removing a whole entry admits fewer.
const ADMITTING: [[&str; 2]; 2] = [["auth", "api-keys"], ["auth", "jwt"]];

/// Compares the settings of two servers.
#[must_use]
pub fn compare_server(a: &ServerSettings, b: &ServerSettings) -> Vec<Finding> {
    let mut out = Findings::default();
    let (entries_a, entries_b) = (entries(a), entries(b));
    for entry in entries_a.union(&entries_b) {
        let (change, direction, meaning) = match (entries_a.contains(entry), entries_b.is_empty()) {
            (true, _) if entries_b.contains(entry) => continue,
            // If authentication is off, the server's settings name the caller.
            (true, true) => {
                (Change::Removed, Direction::NotProved, "the server asks for no credentials")
            }
            (true, false) => (Change::Removed, Direction::Narrower, "it admits no caller any more"),
            (false, _) => (Change::Added, Direction::NotProved, "it admits callers"),
        };
        let name = entry.join(".");
        out.push(finding(&name, change, direction).meaning(meaning));
    }
    for path in a.keys().chain(b.keys()).collect::<BTreeSet<_>>() {
        let entry = entry_of(path);
        let is_of_other = |entry| entries_a.contains(entry) != entries_b.contains(entry);
        if entry.as_ref().is_some_and(is_of_other) || a.get(path) == b.get(path) {
            continue;
        }
        let decides = !path.first().is_some_and(|top| DECIDE_NOTHING.contains(&top.as_str()));
        let direction = if decides { Direction::NotProved } else { Direction::Same };
        let change = Change::Value { before: a.get(path).cloned(), after: b.get(path).cloned() };
        out.push(finding(&path.join("."), change, direction));
    }
    out.sorted()
}

/// Returns the callers and issuers, each by its path.
fn entries(settings: &ServerSettings) -> BTreeSet<Vec<String>> {
    settings.keys().filter_map(|path| entry_of(path)).collect()
}

fn entry_of(path: &[String]) -> Option<Vec<String>> {
    // An entry has settings of its own below its id.
    let entry = path.get(..3).filter(|_| path.len() > 3)?;
    let is_admitting = ADMITTING.iter().any(|list| entry.starts_with(&list.map(str::to_owned)));
    is_admitting.then(|| entry.to_vec())
}

fn finding(name: &str, change: Change, direction: Direction) -> Finding {
    Finding::new(Area::Authority, Kind::Server, name, change).direction(direction)
}
