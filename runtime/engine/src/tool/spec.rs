//! The declaration of a tool.

use relay_bundle::Tier;

use crate::keywords::BRIEFING_ARGUMENT;

/// A tool of relay's own.
#[derive(Debug, PartialEq, Eq)]
pub struct ToolSpec {
    /// The name that `tools/call` takes.
    pub name: &'static str,
    /// The name that people read.
    pub title: &'static str,
    /// The description for agents: what it returns, and when to call it.
    pub description: &'static str,
    /// The node of a project that offers it.
    pub group: Group,
    /// How hard the worst of what it may do is to undo.
    pub tier: Tier,
    /// How it relates to the gate.
    pub gating: Gating,
    /// Whether it reaches anything beyond this server.
    pub open_world: bool,
    /// Its own arguments, in the order of the schema; see also [`ToolSpec::takes_briefing`].
    pub parameters: &'static [Parameter],
    /// The time limit of a call, in seconds.
    pub run_s_max: u32,
    /// The most bytes of one result; `None` where the budget of the gate bounds it.
    pub output_bytes_max: Option<usize>,
    /// Which end of a longer result is kept.
    pub keep: Keep,
}

/// The node of a project that offers a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// `gate`.
    Gate,
    /// `tools { diagnostics }`.
    Diagnostics,
}

/// How a tool relates to the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gating {
    /// It gives the first briefing and takes none.
    Begins,
    /// It continues from a briefing, and gives another.
    Continues,
    /// In a gated project, a briefing must precede it.
    Gated,
}

/// Which end of a result is kept if it is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The start, truncated between two characters.
    Start,
    /// The end, truncated between two lines.
    End,
}

/// An argument of a tool.
#[derive(Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its type, default and range.
    pub kind: Kind,
    /// Whether a call must have it.
    pub required: bool,
    /// Its meaning, for agents, without a range and without a full stop.
    pub meaning: &'static str,
}

/// The type of an argument, with its default and its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    Text {
        /// The value if none is given.
        default: Option<&'static str>,
    },
    /// A whole number.
    Integer {
        /// The value if none is given.
        default: i64,
        /// A lower number is raised to this.
        min: i64,
        /// A higher number is lowered to this.
        max: i64,
    },
    /// A truth value; if none is given, both are meant.
    Boolean,
    /// A list of keywords. The gate of the project sets how many.
    Tags,
}

impl ToolSpec {
    /// Returns whether it changes nothing. Such a call can be repeated safely.
    #[must_use]
    pub const fn is_read_only(&self) -> bool {
        matches!(self.tier, Tier::ReadOnly)
    }

    /// Returns whether what it does may be impossible to undo.
    #[must_use]
    pub const fn is_destructive(&self) -> bool {
        matches!(self.tier, Tier::Irreversible)
    }

    /// Returns the names of its arguments, with that of the handle of a briefing if it takes one.
    pub fn argument_names(&self) -> impl Iterator<Item = &'static str> {
        let briefing = self.takes_briefing().then_some(BRIEFING_ARGUMENT);
        self.parameters.iter().map(|parameter| parameter.name).chain(briefing)
    }

    /// Returns whether it also takes the handle of a briefing.
    #[must_use]
    pub fn takes_briefing(&self) -> bool {
        self.gating != Gating::Begins
    }
}

impl Kind {
    /// Returns what a value must be, for errors and the documentation.
    #[must_use]
    pub const fn expected(self) -> &'static str {
        match self {
            Self::Text { .. } => "a string",
            Self::Integer { .. } => "a whole number",
            Self::Boolean => "true or false",
            Self::Tags => "an array of strings",
        }
    }
}
