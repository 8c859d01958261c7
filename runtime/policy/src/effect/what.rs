//! The kinds of effects.

use super::{Act, CallId, Value};
use crate::facts::{Extent, Facts, FlagId, NameId, NodeId, Role};
use crate::paths::PathClass;
use crate::span::Span;
use crate::tier::Floor;

/// An effect of a text, or a doubt about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effect {
    /// The action.
    pub what: What,
    /// The bytes of the text that cause it.
    pub span: Span,
    /// The call that does it; of an effect of the shell itself, the call that runs this shell.
    pub by: Option<CallId>,
    /// Whether the call itself causes it; otherwise the shell does, before the call or beside it.
    pub is_own: bool,
    /// Whether the dry run or check of its call covers it.
    pub(crate) is_capped: bool,
    /// The node and line of the fact that declares it.
    pub(crate) fact: Option<(NodeId, u16)>,
}

/// The kind of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Something happens to a path.
    Path {
        /// The action on the path.
        touch: Touch,
        /// The path, absolute or seen from the work tree (`.`) or the home (`~`).
        path: Value,
        /// Its kind.
        class: PathClass,
        /// Whether it happens to many paths, one after the other.
        is_many: bool,
        /// Whether the path is a whole tree of the system.
        is_tree: bool,
        /// Whether the path holds a secret.
        is_secret: bool,
    },
    /// It connects to a host.
    Connects(Value),
    /// It opens this address or port to others.
    Listens(Value),
    /// Data is sent to another host.
    Sends(Sent),
    /// Hidden code runs.
    Runs(Hidden, &'static str),
    /// A container gets a folder of the host.
    Mounts(Mount),
    /// It runs with the rights of another user.
    Escalates(Value),
    /// A named action; in code of another language, with that language.
    Does(Act, Option<Role>),
    /// A fact declares the tier of a program, form, option or value.
    Declared(Fact),
    /// An unlisted value of an option or operand whose listed values decide.
    Unlisted {
        /// The listed values.
        listed: Extent,
        /// Whether the text shows the value.
        is_literal: bool,
    },
    /// A word made by the text may be any option of this program or sub-command.
    AnyOption(NodeId),
    /// A doubt: its kind, and a sentence about it.
    Doubt(Floor, &'static str),
    /// A rule of the project raises the tier: its number among those that do.
    Raised(u16),
}

/// An action on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Touch {
    /// It is read.
    Read,
    /// It is made or overwritten.
    Write,
    /// It is added to.
    Append,
    /// It is removed.
    Remove,
    /// It is emptied.
    Empty,
    /// Its mode, owner or attributes change.
    Change,
    /// The same, with all below it.
    ChangeTree,
    /// It is moved away.
    Take,
}

impl Touch {
    /// Returns the verb for people.
    #[must_use]
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
            Self::Append => "adds to",
            Self::Remove => "removes",
            Self::Empty => "empties",
            Self::Change => "changes the mode or owner of",
            Self::ChangeTree => "changes the mode or owner of all below",
            Self::Take => "moves away",
        }
    }
}

/// Data that leaves the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// Data other than a secret or the output of another command.
    Data,
    /// A file or folder, for another host to keep.
    File,
    /// More than the requested address.
    Body,
    /// The output of another command.
    Output,
    /// A secret.
    Secret,
}

impl Sent {
    /// Returns it as a sentence for people.
    #[must_use]
    pub const fn says(self) -> &'static str {
        match self {
            Self::Data => "sends data over a network",
            Self::File => "writes to another host",
            Self::Body => "sends more than the address that it asks",
            Self::Output => "sends the output of another command",
            Self::Secret => "sends a secret over a network",
        }
    }
}

/// The sentence about a program that takes commands from its standard input, which is that of the
/// text: from a person or a program, later.
pub const TYPED: &str = "it takes commands that the text does not show";

/// The origin of hidden code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hidden {
    /// A file, a configuration or a person.
    Opaque,
    /// The text itself, from parts that are not literal.
    Made,
    /// A network.
    Network,
}

/// The part of the host that a container gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mount {
    /// A folder with the whole host, or its daemon.
    Host,
    /// An unknown folder.
    Unknown,
    /// A folder in which the container may write unknown files.
    Written,
    /// An ordinary folder.
    Folder,
}

impl Mount {
    /// Returns it as a sentence for people.
    #[must_use]
    pub const fn says(self) -> &'static str {
        match self {
            Self::Host => "gives a container the host",
            Self::Unknown => "gives a container a folder that is not known",
            Self::Written => "may write to a folder of the host",
            Self::Folder => "gives a container a folder",
        }
    }
}

/// A fact that declares a tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// Of a program or sub-command.
    Program(NodeId),
    /// Of one of its forms.
    Form(NodeId, u32),
    /// Of an option, by the name that was given.
    Flag(NodeId, FlagId, NameId),
    /// Of a value of an option or operand.
    Value(NodeId, u32),
}

impl Effect {
    /// Returns an effect of the shell itself.
    pub(crate) fn of_shell(what: What, span: Span) -> Self {
        Self { what, span, by: None, is_own: false, is_capped: false, fact: None }
    }

    /// Returns whether it may be any call with any effects: a text that is not understood, code that
    /// the text makes from parts that are not literal, and code from a network.
    #[must_use]
    pub const fn may_be_anything(&self) -> bool {
        matches!(
            self.what,
            What::Doubt(Floor::Unparsed, _) | What::Runs(Hidden::Made | Hidden::Network, _)
        )
    }

    /// Returns whether it may be any effect of its call: a word that selects the work of the call is not
    /// literal.
    #[must_use]
    pub const fn may_be_any_effect(&self) -> bool {
        matches!(self.what, What::Doubt(Floor::UnknownWord, _))
    }

    /// Returns the path, host, port or user of the effect.
    #[must_use]
    pub const fn value(&self) -> Option<Value> {
        match self.what {
            What::Path { path, .. } => Some(path),
            What::Connects(value) | What::Listens(value) | What::Escalates(value) => Some(value),
            _ => None,
        }
    }

    /// Returns a verb, or a sentence without its subject, for people.
    #[must_use]
    pub fn how<'a>(&self, facts: &Facts<'a>) -> &'a str {
        let says = match self.what {
            What::Path { touch, .. } => touch.verb(),
            What::Connects(_) => "connects to",
            What::Listens(_) => "listens on",
            What::Sends(sent) => sent.says(),
            What::Runs(_, reason) | What::Doubt(_, reason) => reason,
            What::Mounts(mount) => mount.says(),
            What::Escalates(_) => "runs with the rights of",
            What::Does(act, _) => act.says(),
            What::Declared(fact) => match fact {
                Fact::Program(node) => facts.node_says(node),
                Fact::Form(_, form) => facts.form_says(form),
                Fact::Flag(_, flag, _) => facts.flag_says(flag),
                Fact::Value(_, value) => facts.value_says(value),
            },
            What::Unlisted { is_literal: true, .. } => "no fact declares this value",
            What::Unlisted { .. } => "this word decides and is not literal",
            What::AnyOption(_) => "this word is made by the text and may be an option",
            What::Raised(_) => "is raised by a rule of the project",
        };
        // A fact may have a tier without a sentence.
        if says.is_empty() { "does more than look" } else { says }
    }

    /// Returns the kind by its word in projects, JSON and reports.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self.what {
            What::Path { touch, .. } => match touch {
                Touch::Read => "reads",
                Touch::Write | Touch::Append => "writes",
                Touch::Remove | Touch::Empty | Touch::Take => "removes",
                Touch::Change | Touch::ChangeTree => "changes",
            },
            What::Connects(_) => "connects",
            What::Listens(_) => "listens",
            What::Sends(_) => "sends",
            What::Runs(..) => "runs",
            What::Mounts(_) => "mounts",
            What::Escalates(_) => "escalates",
            What::Does(..) | What::Declared(_) | What::Raised(_) => "does",
            What::Unlisted { .. } | What::AnyOption(_) | What::Doubt(..) => "doubts",
        }
    }
}
