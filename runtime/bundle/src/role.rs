//! The roles of a project: the rights of callers.

use serde::{Deserialize, Serialize};

use crate::place::Place;
use crate::setting::Setting;
use crate::tier::Tier;

/// A role, with its inherited tier and tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CallerRole {
    /// Its name.
    pub name: String,
    /// The highest tier that a call of this role may reach, 0 (reads) to 3 (cannot be undone).
    pub tier: Setting<Tier>,
    /// Whether a person is asked before tier 3; absent unless the project says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approve: Option<Setting<bool>>,
    /// Whether its callers may ask for decisions on the calls of others; absent unless the project
    /// says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decides: Option<Setting<bool>>,
    /// The number of the role that contains this one.
    pub parent: Option<u32>,
    /// The names and patterns of the tools that it sees; absent if it sees all.
    pub tools: Option<Vec<Setting<String>>>,
    /// Where it was declared.
    pub at: Place,
}

impl CallerRole {
    /// Returns whether its callers may ask for decisions on the calls of others.
    #[must_use]
    pub fn may_ask(&self) -> bool {
        self.decides.as_ref().is_some_and(|decides| decides.value)
    }

    /// Returns the role that contains this one, among the roles of its bundle.
    #[must_use]
    pub fn parent_in<'r>(&self, roles: &'r [Self]) -> Option<&'r Self> {
        roles.get(self.parent? as usize)
    }
}
