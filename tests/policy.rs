//! The classifier: the convention, the corpora, and changes of spelling, which keep or raise a
//! tier.

mod bounded;
mod convention;
pub(crate) mod corpus;
mod deletion;
mod effects;
pub(crate) mod entry;
mod hard_inputs;
mod hidden;
mod join;
mod location;
mod meaning;
mod mutation;
mod oracle;
mod spelling;

use entry::FACTS;
use relay_policy::classify::{Rules, Verdict, classify};

/// Returns what a command may do, by the shipped facts.
fn verdict(command: &str) -> Verdict {
    classify(command, &FACTS, &Rules::default())
}

/// Returns the tier of a command.
fn tier(command: &str) -> u8 {
    verdict(command).tier.number()
}

/// Returns why a command has its tier, a line for each hit.
fn reasons(command: &str) -> String {
    let hits = verdict(command).hits;
    let line = |hit: &relay_policy::classify::Hit| {
        format!("    {} `{}` {}\n", hit.tier.number(), hit.span.of(command), hit.message(&FACTS))
    };
    hits.iter().map(line).collect()
}
