//! The policy for commands.

use serde::{Deserialize, Serialize};

use crate::place::Place;
use crate::setting::Setting;
use crate::tier::{Floors, Tier};

/// How commands are judged, beside the facts about programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The tiers of doubts.
    pub floors: Floors<Setting<Tier>>,
    /// The paths that the project says something of, in the order of the text.
    pub paths: Vec<PathRow>,
    /// The digest of the facts without their places, in hex: equal for tables that say the same.
    pub facts: String,
    /// Where the policy was declared.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
