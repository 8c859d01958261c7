//! The mode of a policy: the calls that run without a rule that allows them.

use serde::{Deserialize, Serialize};

/// The mode of a policy, the widest first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Every tier runs, unless a rule denies it.
    Open,
    /// Tiers 0 and 1 run; a higher one needs a rule that allows it.
    #[default]
    Guarded,
    /// Only tier 0 runs; no rule widens it.
    Readonly,
}

impl Mode {
    /// Every mode, the widest first.
    pub const ALL: [Self; 3] = [Self::Open, Self::Guarded, Self::Readonly];

    /// Returns its word in projects and reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Guarded => "guarded",
            Self::Readonly => "readonly",
        }
    }
}
