//! The declaration of a figure: the one place for its id, its words and its goals.

/// A figure: a piece of work and the quantities that a run reports about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figure {
    /// The name of its area, `/`, and a name in it. Data files refer to it, so it stays.
    pub(crate) id: &'static str,
    /// The work, in words.
    pub(crate) work: &'static str,
    pub(crate) parts: &'static [Part],
    /// How to read it, where the row leaves a doubt; else empty.
    pub(crate) note: &'static str,
}

/// A quantity of a figure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    /// Unique in its figure; empty if the figure has one quantity.
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) goal: Option<Bound>,
    /// A sharper goal, which counts from the next release.
    pub(crate) next: Option<Bound>,
    /// Whether it is a limit or a peer that the same run measured.
    pub(crate) is_beside: bool,
}

/// A bound of a goal, in the unit of its part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

/// Returns a quantity without a goal.
pub(crate) const fn of(name: &'static str, unit: &'static str) -> Part {
    Part { name, unit, goal: None, next: None, is_beside: false }
}

/// Returns a limit or a peer that the same run measures.
pub(crate) const fn beside(name: &'static str, unit: &'static str) -> Part {
    Part { name, unit, goal: None, next: None, is_beside: true }
}

impl Part {
    /// Returns it with the goal of being at most this.
    pub(crate) const fn at_most(self, limit: f64) -> Self {
        Self { goal: Some(Bound::AtMost(limit)), ..self }
    }

    /// Returns it with the goal of being at least this.
    pub(crate) const fn at_least(self, limit: f64) -> Self {
        Self { goal: Some(Bound::AtLeast(limit)), ..self }
    }

    /// Returns it with a sharper goal of the same direction.
    pub(crate) const fn next(self, limit: f64) -> Self {
        let next = match self.goal {
            Some(Bound::AtLeast(_)) => Bound::AtLeast(limit),
            Some(Bound::AtMost(_)) | None => Bound::AtMost(limit),
        };
        Self { next: Some(next), ..self }
    }
}

impl Bound {
    /// Returns whether a measured value meets it.
    pub(crate) fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtMost(limit) => value <= limit,
            Self::AtLeast(limit) => value >= limit,
        }
    }

    /// Returns its limit.
    pub(crate) fn limit(self) -> f64 {
        match self {
            Self::AtMost(limit) | Self::AtLeast(limit) => limit,
        }
    }

    /// Returns its sign.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::AtMost(_) => "≤",
            Self::AtLeast(_) => "≥",
        }
    }
}
