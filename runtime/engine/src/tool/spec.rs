//! The declaration of a tool.

use relay_bundle::Tier;

use super::reach::reach;
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
    /// The tier of the tool itself; a text that it runs has its own.
    pub tier: Tier,
    /// Its relation to the gate.
    pub gating: Gating,
    /// Whether it reaches anything beyond this server.
    pub open_world: bool,
    /// Its own arguments, in the order of the schema; see also [`ToolSpec::takes_briefing`].
    pub parameters: &'static [Parameter],
    /// The time limit of a call.
    pub time: Time,
    /// The limit of a result.
    pub output: Output,
    /// The end of a longer result that is kept.
    pub keep: Keep,
}

/// The time limit of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// A number of seconds.
    Seconds(u32),
    /// The argument of this name, in seconds.
    Argument(&'static str),
    /// The argument of this name, which the tool itself keeps, and so many seconds more to begin and to
    /// end its work.
    Within(&'static str, u32),
}

/// The limit of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// The budget of the gate.
    ByGate,
    /// A number of bytes.
    Bytes(usize),
    /// The argument of this name, in bytes; the tool itself counts them.
    Argument(&'static str),
}

/// The node of a project that offers a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// `gate`.
    Gate,
    /// `tools { shell }`.
    Shell,
    /// `tools { sessions }`.
    Sessions,
    /// `tools { ssh }`.
    Ssh,
    /// `tools { ssh; sessions }`.
    SshSessions,
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

impl Parameter {
    /// A text that a call may leave out, which is then empty.
    pub(super) const fn optional_text(name: &'static str, meaning: &'static str) -> Self {
        Self { name, kind: Kind::Text { default: Some("") }, required: false, meaning }
    }

    /// A text that a call must have.
    pub(super) const fn required_text(name: &'static str, meaning: &'static str) -> Self {
        Self { name, kind: Kind::Text { default: None }, required: true, meaning }
    }
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
        default: Bound,
        /// The lowest value; lower numbers are raised to it.
        min: i64,
        /// The highest value; higher numbers are lowered to it.
        max: Bound,
    },
    /// A time limit in whole seconds, from 1 to the project's limit; 0 means the default.
    Timeout {
        /// The default value.
        default: Bound,
    },
    /// A number of seconds with a fraction, from 0 on. Here it is in milliseconds.
    Decimal {
        /// The default value.
        default_ms: u32,
        /// The highest value; higher numbers are lowered to it.
        max_ms: u32,
    },
    /// A truth value.
    Boolean {
        /// The default value; without one, an absent value means both.
        default: Option<bool>,
    },
    /// A list of keywords. The gate of the project sets their number.
    Tags,
}

impl ToolSpec {
    /// Returns whether it only reads, with any arguments. Such a call can be repeated safely.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.tier == Tier::ReadOnly && !self.runs_text()
    }

    /// Returns whether its effects may be irreversible.
    #[must_use]
    pub fn is_destructive(&self) -> bool {
        self.tier == Tier::Irreversible || self.runs_text()
    }

    /// Returns whether it starts processes, here or on another host, or acts on those that it started.
    #[must_use]
    pub fn starts_processes(&self) -> bool {
        matches!(self.group, Group::Shell | Group::Sessions | Group::Ssh | Group::SshSessions)
    }

    /// Returns whether it runs a text of its caller.
    fn runs_text(&self) -> bool {
        reach(self.name).is_some_and(|reach| reach.text.is_some())
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

/// A number of the table, or one that the project sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// This number.
    Fixed(i64),
    /// A limit of the project.
    Limit(Limit),
}

/// A limit of the project: `limits` of its policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// `timeout`, in seconds.
    Timeout,
    /// `max-timeout`, in seconds.
    MaxTimeout,
    /// `output`, in bytes.
    Output,
    /// `max-output`, in bytes.
    MaxOutput,
    /// `fanout`, a number of hosts.
    Fanout,
}

impl Limit {
    /// Returns its name in a project.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::MaxTimeout => "max-timeout",
            Self::Output => "output",
            Self::MaxOutput => "max-output",
            Self::Fanout => "fanout",
        }
    }
}

impl Kind {
    /// Returns the expected values, for errors and the documentation.
    #[must_use]
    pub const fn expected(self) -> &'static str {
        match self {
            Self::Text { .. } => "a string",
            Self::Integer { .. } => "a whole number",
            Self::Timeout { .. } => "a whole number",
            Self::Decimal { .. } => "a number",
            Self::Boolean { .. } => "true or false",
            Self::Tags => "an array of strings",
        }
    }
}
