//! The tools offered by a bundle.

use serde::{Deserialize, Serialize};

use crate::place::Place;
use crate::tier::Tier;

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
    pub tier: Tier,
    /// Where the tool was declared.
    pub at: Place,
}
