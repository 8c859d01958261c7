//! Statements of rows about a call, for readers that compare no tiers.

use super::row::{Extent, FlagRow, FormRow, NodeRow, ValueRow};
use super::table::Facts;
use crate::tier::Tier;

impl NodeRow {
    /// Returns whether the facts of the program are read: then they say whether it acts.
    pub(crate) const fn is_judged(&self) -> bool {
        self.tier.is_some()
    }

    /// Returns whether the program does more than look, whatever its words are.
    pub(crate) fn acts(&self) -> bool {
        self.tier > Some(Tier::ReadOnly)
    }
}

impl FormRow {
    /// Returns whether the form does more than look.
    pub(crate) fn acts(&self) -> bool {
        self.tier > Tier::ReadOnly
    }
}

impl FlagRow {
    /// Returns whether the option does more than look.
    pub(crate) fn acts(&self) -> bool {
        self.tier > Tier::ReadOnly
    }

    /// Returns whether the program only looks with this option.
    pub(crate) fn only_looks(&self) -> bool {
        self.cap == Some(Tier::ReadOnly)
    }
}

impl Facts<'_> {
    /// Returns whether a value that is not listed is a doubt: one of those that are decides.
    pub(crate) fn decides(&self, values: Extent) -> bool {
        self.values(values).any(|row| row.tier >= Tier::Stateful)
    }
}

impl ValueRow {
    /// Returns whether the value does more than look.
    pub(crate) fn acts(&self) -> bool {
        self.tier > Tier::ReadOnly
    }
}
