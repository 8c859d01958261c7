//! Whether a condition holds, with doubt.

/// Whether a condition holds. The least of several conditions holds for all of them together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fit {
    /// It does not hold.
    No,
    /// It may hold: a part of the request is not known.
    Maybe,
    /// It certainly holds.
    Surely,
}

impl Fit {
    /// Returns certainty for a truth value.
    #[must_use]
    pub const fn known(holds: bool) -> Self {
        if holds { Self::Surely } else { Self::No }
    }

    /// Returns whether any of several conditions holds.
    #[must_use]
    pub fn any(fits: impl IntoIterator<Item = Self>) -> Self {
        let mut best = Self::No;
        for fit in fits {
            if fit == Self::Surely {
                return fit;
            }
            best = best.max(fit);
        }
        best
    }

    /// Returns whether all of several conditions hold; certain for none.
    #[must_use]
    pub fn all(fits: impl IntoIterator<Item = Self>) -> Self {
        let mut least = Self::Surely;
        for fit in fits {
            if fit == Self::No {
                return fit;
            }
            least = least.min(fit);
        }
        least
    }

    /// Returns the fit without another one: an exception.
    #[must_use]
    pub fn without(self, except: Self) -> Self {
        match except {
            Self::No => self,
            Self::Maybe => self.min(Self::Maybe),
            Self::Surely => Self::No,
        }
    }

    /// Returns doubt in place of certainty.
    #[must_use]
    pub fn doubted(self) -> Self {
        self.min(Self::Maybe)
    }
}
