//! The words of rules: their consequences, and the parts of a request that conditions select.

use serde::{Deserialize, Serialize};

/// Declares an enum of words, each with the number in the file.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$each:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        #[repr(u8)]
        pub enum $name { $($(#[$each])* $variant,)+ }

        impl $name {
            /// All of them, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Returns its word in projects and reports.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            pub(crate) fn from_number(number: u8) -> Option<Self> {
                Self::ALL.get(usize::from(number)).copied()
            }
        }
    };
}

words! {
    /// The consequence of a rule.
    RuleKind {
        /// The request is denied.
        Deny = "deny",
        /// A person is asked first.
        Approve = "approve",
        /// The covered parts run, though the mode would refuse them.
        Allow = "allow",
        /// The tier is at least this.
        Tier = "tier",
        /// The tier of the covered parts is at most this.
        Lower = "lower",
    }
}

words! {
    /// The part of a request that a condition selects.
    Selector {
        /// A program, by any of its names.
        Program = "program",
        /// Its sub-commands.
        Sub = "sub",
        /// An option, in any spelling.
        Flags = "flags",
        /// An operand.
        Operands = "operands",
        /// A path that is read.
        Reads = "reads",
        /// A path that is made, overwritten or added to.
        Writes = "writes",
        /// A path that is removed, emptied or moved away.
        Removes = "removes",
        /// A path whose mode, owner or attributes change.
        Changes = "changes",
        /// A path to which any of these happens.
        Touches = "touches",
        /// A host to which it connects.
        Connects = "connects",
        /// Data sent to another host.
        Sends = "sends",
        /// A port or address on which it listens.
        Listens = "listens",
        /// Hidden code.
        Runs = "runs",
        /// A user whose rights it takes.
        Escalates = "escalates",
        /// The name of the tool.
        Tool = "tool",
        /// An argument of the tool.
        Arg = "arg",
        /// A host on which it runs.
        Host = "host",
        /// The client of the caller.
        Client = "client",
        /// The lowest tier of the request.
        TierMin = "tier-min",
        /// The highest tier of the request.
        TierMax = "tier-max",
        /// The text of the request: a regex, searched in the tool's name, a space and the text.
        Text = "text",
        /// A command as it is written, where the text is a plain list of commands.
        Words = "words",
    }
}

/// The part of a request that a selector is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// One call of a program.
    Call,
    /// An effect.
    Effect,
    /// The request as a whole.
    Request,
}

impl Selector {
    /// Returns the part of a request that it is about.
    #[must_use]
    pub const fn subject(self) -> Subject {
        match self {
            Self::Program | Self::Sub | Self::Flags | Self::Operands | Self::Words => Subject::Call,
            Self::Reads
            | Self::Writes
            | Self::Removes
            | Self::Changes
            | Self::Touches
            | Self::Connects
            | Self::Sends
            | Self::Listens
            | Self::Runs
            | Self::Escalates => Subject::Effect,
            Self::Tool
            | Self::Arg
            | Self::Host
            | Self::Client
            | Self::TierMin
            | Self::TierMax
            | Self::Text => Subject::Request,
        }
    }

    /// Returns whether its values are patterns of paths or classes of paths.
    #[must_use]
    pub const fn is_of_paths(self) -> bool {
        matches!(self, Self::Reads | Self::Writes | Self::Removes | Self::Changes | Self::Touches)
    }
}
