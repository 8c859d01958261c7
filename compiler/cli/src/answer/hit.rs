//! The parts of a command that raise its tier.

use relay_policy::classify::{Hit, Verdict};
use relay_policy::facts::Facts;
use schemars::JsonSchema;
use serde::Serialize;

/// A part of a command that raises its tier.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Raised {
    /// The tier that it raises the command to.
    tier: u8,
    /// Its first byte in the command.
    start: u32,
    /// The byte after its last.
    end: u32,
    /// The rule that raised it.
    rule: String,
    /// Why, for people.
    message: String,
    /// Where the fact was written, as `file:line`; absent if no fact raised it.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
}

impl Raised {
    /// Returns the hits of a verdict, the highest first.
    pub(crate) fn all(verdict: &Verdict, facts: &Facts<'_>) -> Vec<Self> {
        verdict.hits.iter().map(|hit| Self::of(hit, facts)).collect()
    }

    fn of(hit: &Hit, facts: &Facts<'_>) -> Self {
        Self {
            tier: hit.tier.number(),
            start: hit.span.start,
            end: hit.span.end,
            rule: hit.rule(facts),
            message: hit.message(facts),
            at: hit.at(facts).map(|place| format!("{}:{}", place.file, place.line)),
        }
    }
}

/// Returns whether a count is 0; its field is then absent.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn is_zero(number: &usize) -> bool {
    *number == 0
}
