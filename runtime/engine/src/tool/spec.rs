//! The declaration of a tool.

use relay_bundle::Tier;

use crate::keywords::BRIEFING_ARGUMENT;

/// A tool of relay itself.
#[derive(Debug, PartialEq, Eq)]
pub struct ToolSpec {
    /// The name in `tools/call`.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// The description for agents: its result, and when to call it.
    pub description: &'static str,
    /// The node of a project that offers it.
    pub group: Group,
    /// The tier of its worst effect.
    pub tier: Tier,
    /// Its relation to the gate.
    pub gating: Gating,
    /// Whether it reaches anything beyond this server.
    pub open_world: bool,
    /// Its own arguments, in the order of the schema; see also [`ToolSpec::takes_briefing`].
    pub parameters: &'static [Parameter],
    /// The time limit of a call, in seconds.
    pub run_s_max: u32,
    /// The most bytes of one result; `None` if the budget of the gate limits it.
    pub output_bytes_max: Option<usize>,
    /// The end of a longer result that is kept.
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

/// The relation of a tool to the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gating {
    /// It gives the first briefing, and so takes no handle.
    Begins,
    /// It continues from a briefing, and gives another.
    Continues,
    /// A briefing must precede it in a gated project.
    Gated,
}

/// The end of a result that is kept if it is too long.
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
    /// Whether it is required in a call.
    pub required: bool,
    /// Its meaning, for agents; the range and the full stop are added.
    pub meaning: &'static str,
}

/// The type of an argument, with its default and its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    Text {
        /// The default value.
        default: Option<&'static str>,
    },
    /// A whole number.
    Integer {
        /// The default value.
        default: i64,
        /// The lowest value; lower numbers are raised to it.
        min: i64,
        /// The highest value; higher numbers are lowered to it.
        max: i64,
    },
    /// A truth value; an absent one means both.
    Boolean,
    /// A list of keywords. The gate of the project sets their number.
    Tags,
}

impl ToolSpec {
    /// Returns whether it only reads. Such a call can be repeated safely.
    #[must_use]
    pub const fn is_read_only(&self) -> bool {
        matches!(self.tier, Tier::ReadOnly)
    }

    /// Returns whether its effects may be irreversible.
    #[must_use]
    pub const fn is_destructive(&self) -> bool {
        matches!(self.tier, Tier::Irreversible)
    }

    /// Returns the names of its arguments, with the handle of a briefing if it takes one.
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
    /// Returns the expected values, for errors and the documentation.
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
