//! The tools that a bundle offers.

use serde::{Deserialize, Deserializer, Serialize};

use crate::place::Place;

/// The highest tier: cannot be undone.
const TIER_MAX: u8 = 3;

/// One tool. Its entry in the list that clients read is in the prebuilt pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// The name that `tools/call` takes.
    pub name: String,
    /// Whether a briefing must precede it.
    pub gated: bool,
    /// Its tier, 0 (reads) to 3 (cannot be undone).
    #[serde(deserialize_with = "tier")]
    pub tier: u8,
    /// Where the tool was declared.
    pub at: Place,
}

fn tier<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    match u8::deserialize(deserializer)? {
        tier if tier <= TIER_MAX => Ok(tier),
        tier => Err(serde::de::Error::custom(format!("tier {tier}: 0 to {TIER_MAX} are known"))),
    }
}
