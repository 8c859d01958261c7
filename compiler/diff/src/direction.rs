//! The direction of a difference in authority: the one type, and the one way to it.
//!
//! Every concept asks the same two questions: is all that agents may do after the change proved to
//! be within their authority before, and the other way round? An unproved case *loosens*: an unsure
//! comparison always reports.

use serde::Serialize;

/// How what agents may do differs, as far as it is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Direction {
    /// They may do more, or a proof that they may do only as much is missing.
    #[serde(rename = "loosens")]
    NotProved,
    /// They may do the same.
    #[serde(rename = "none")]
    Same,
    /// They may do less.
    #[serde(rename = "tightens")]
    Narrower,
}

impl Direction {
    /// Returns the word of reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::NotProved => "loosens",
            Self::Same => "none",
            Self::Narrower => "tightens",
        }
    }

    /// Returns the direction of a change from two proofs: all after it was possible before, and all
    /// before it is possible after.
    pub(crate) const fn proved(is_within_before: bool, holds_before: bool) -> Self {
        match (is_within_before, holds_before) {
            (true, true) => Self::Same,
            (true, false) => Self::Narrower,
            (false, _) => Self::NotProved,
        }
    }

    /// Returns the direction of a change that lets agents do less, if proved; else `NotProved`.
    pub(crate) const fn narrower_if(is_proved: bool) -> Self {
        Self::proved(is_proved, false)
    }

    /// Returns the direction of a limit that lets agents do more as it rises: the tier of a role.
    pub(crate) fn of_limit<T: Ord>(before: &T, after: &T) -> Self {
        Self::proved(after <= before, before <= after)
    }

    /// Returns the direction of a demand that lets agents do less as it rises: a tier of commands.
    pub(crate) fn of_demand<T: Ord>(before: &T, after: &T) -> Self {
        Self::proved(before <= after, after <= before)
    }

    /// Returns the direction of two changes at once.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::NotProved, _) | (_, Self::NotProved) => Self::NotProved,
            (Self::Same, other) => other,
            (Self::Narrower, _) => Self::Narrower,
        }
    }
}
