//! The roles of a project: what callers may see and do.

use serde::{Deserialize, Serialize};

use crate::place::Place;
use crate::setting::Setting;
use crate::tier::Tier;

/// A role, with what it inherits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CallerRole {
    /// Its name.
    pub name: String,
    /// The most tier that a call of this role may reach, 0 (reads) to 3 (cannot be undone).
    pub tier: Setting<Tier>,
    /// The role that contains this one.
    pub parent: Option<String>,
    /// The names and patterns of the tools that it sees; absent if it sees all.
    pub tools: Option<Vec<Setting<String>>>,
    /// Where it was declared.
    pub at: Place,
}
