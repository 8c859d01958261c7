//! Statements of rows about a call, for readers other than the comparison of tiers.

use super::row::{Extent, FlagRow, FormRow, NodeRow, ValueRow};
use super::table::Facts;
use crate::tier::Tier;

impl NodeRow {
    /// Returns whether the facts of the program were reviewed, so that they give its tier.
    pub(crate) const fn is_judged(&self) -> bool {
        self.tier.is_some()
    }

    /// Returns whether the program changes something even without options.
    pub(crate) fn acts(&self) -> bool {
        self.tier > Some(Tier::ReadOnly)
    }
}

impl FormRow {
    /// Returns whether the form changes something.
    pub(crate) fn acts(&self) -> bool {
        self.tier > Tier::ReadOnly
    }
}

impl FlagRow {
    /// Returns whether the option changes something.
    pub(crate) fn acts(&self) -> bool {
        self.tier > Tier::ReadOnly
    }

    /// Returns whether the program only reads with this option.
    pub(crate) fn only_looks(&self) -> bool {
        self.cap == Some(Tier::ReadOnly)
    }
}

impl Facts<'_> {
    /// Returns whether an unlisted value is a doubt, because one of the listed values decides.
    pub(crate) fn decides(&self, values: Extent) -> bool {
        self.values(values).any(|row| row.tier >= Tier::Stateful)
    }
}

impl ValueRow {
    /// Returns whether the value changes something.
    pub(crate) fn acts(&self) -> bool {
        self.tier > Tier::ReadOnly
    }
}
