//! The settings of skills: how calls are given them.

use serde::{Deserialize, Serialize};

use crate::setting::Setting;

/// The settings of skills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SkillSettings {
    /// Whether callers that the server recognizes are given a text again.
    pub repeat: Setting<Repeat>,
}

/// When a caller is given the text of its skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Repeat {
    /// With each call.
    Always,
    /// Once in a session or with a handle, and then the names of the skills.
    Once,
}
