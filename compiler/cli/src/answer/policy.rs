//! How commands are judged, as facts for people.

use relay_bundle::{Bundle, Corrupt, Floors, Policy, Setting, Tier};
use relay_policy::facts::Facts;

use crate::answer::size::grouped;

/// Returns floors, paths and the size of the facts, each with its name.
pub(crate) fn facts(
    policy: &Policy,
    bundle: &Bundle,
) -> Result<Vec<(&'static str, String)>, Corrupt> {
    let mut facts = vec![("floors", floors(&policy.floors))];
    for row in &policy.paths {
        let mut line = row.patterns.join(" ");
        if !row.except.is_empty() {
            line.push_str(&format!(" except {}", row.except.join(" ")));
        }
        facts.push((row.kind.word(), line));
    }
    let table = bundle.facts()?;
    let programs = Facts::open(table).map_or(0, |facts| facts.program_names().count());
    let size = format!("{} programs, {} bytes", grouped(programs), grouped(table.len()));
    facts.push(("facts", size));
    Ok(facts)
}

/// Returns the floors on one line.
pub(crate) fn floors(floors: &Floors<Setting<Tier>>) -> String {
    let each =
        floors.iter().map(|(floor, tier)| format!("{} {}", floor.name(), tier.value.number()));
    each.collect::<Vec<_>>().join(", ")
}
