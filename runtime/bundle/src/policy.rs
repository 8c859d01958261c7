//! The policy for commands.

use serde::{Deserialize, Serialize};

use crate::mode::Mode;
use crate::place::Place;
use crate::selector::Selector;
use crate::setting::Setting;
use crate::tier::{Floors, Tier};

/// How requests are judged, beside the rules and the facts about programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The mode for callers and hosts without a scope that sets another.
    pub mode: Setting<Mode>,
    /// The tiers of doubts.
    pub floors: Floors<Setting<Tier>>,
    /// The paths that the project says something of, in the order of the text.
    pub paths: Vec<PathRow>,
    /// The classes of paths that the project names, sorted by name.
    pub classes: Vec<PathClassRow>,
    /// The scopes of rules and modes, each after the one around it.
    pub scopes: Vec<Scope>,
    /// The effects of tools of other servers, in the order of the text.
    pub tools: Vec<ToolEffects>,
    /// The digest of the facts without their places, in hex: equal for tables that say the same.
    pub facts: String,
    /// Where the policy was declared.
    pub at: Place,
}

/// A class of paths that a project names, for its rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PathClassRow {
    /// Its name.
    pub name: String,
    /// The patterns of its paths.
    pub patterns: Vec<String>,
    /// The patterns of paths that it does not mean.
    pub except: Vec<String>,
    /// Where it was written.
    pub at: Place,
}

/// The effects of tools of other servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ToolEffects {
    /// The names and patterns of the tools.
    pub patterns: Vec<String>,
    /// Their arguments with an effect.
    pub arguments: Vec<ArgumentEffect>,
    /// Where it was written.
    pub at: Place,
}

/// The effect of an argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ArgumentEffect {
    /// The name of the argument.
    pub name: String,
    /// The effect on its value.
    pub effect: Selector,
}

/// The callers and hosts of rules and of a mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// The number of the scope around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// The tenant of its callers; absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The role of its callers; absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The patterns of its hosts; empty for all, and for calls on the own host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Its mode; absent for that of the scope around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Setting<Mode>>,
    /// Where it was written.
    pub at: Place,
}

/// A project's patterns of paths of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PathRow {
    /// The kind of the paths.
    pub kind: PathKind,
    /// The patterns of the paths.
    pub patterns: Vec<String>,
    /// The patterns of paths of which it does not say it.
    pub except: Vec<String>,
    /// Where it was written.
    pub at: Place,
}

/// The kinds of paths that a project may declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PathKind {
    /// It is for temporary files.
    Scratch,
    /// A host cannot do without it.
    Critical,
    /// It is run, or it admits.
    Admits,
    /// It holds a secret.
    Secret,
}

impl PathKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Scratch, Self::Critical, Self::Admits, Self::Secret];

    /// Returns its word in projects.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Scratch => "scratch",
            Self::Critical => "critical",
            Self::Admits => "admits",
            Self::Secret => "secret",
        }
    }
}
