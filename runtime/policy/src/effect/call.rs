//! A program that may run, with its words.

use std::ops::Range;

use super::Value;
use crate::facts::{FlagId, NameId, NodeId, Role};
use crate::span::Span;

/// The number of a call among those of its text, in the order in which they begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub(super) u32);

impl CallId {
    /// Returns the number, from 0.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// A program that may run. A command with several readings has a call for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The bytes of the text that name it, with its sub-commands.
    pub span: Span,
    /// The call that runs this one, such as a call of `sudo`, `xargs`, `sh -c` or `ssh`.
    pub wrapper: Option<CallId>,
    /// The program, function or alias, as written in the text.
    pub program: Value,
    /// The program or its innermost sub-command, if facts describe it.
    pub node: Option<NodeId>,
    /// The user whose rights it gives to its command.
    pub gives_user: Option<Value>,
    /// The host that it connects to, on which its command runs.
    pub gives_host: Option<Value>,
    /// Whether some of its words are not understood: an unknown option or sub-command, or a word
    /// that may be any option.
    pub has_doubt: bool,
    pub(super) arguments: Range<u32>,
    pub(super) caps: Range<u32>,
}

/// A word of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument {
    /// Its meaning for the program.
    pub kind: ArgumentKind,
    /// Its text; of an option, its value.
    pub value: Option<Value>,
    /// Its bytes of the text.
    pub span: Span,
    /// Whether it may expand to any number of words.
    pub is_many: bool,
    /// Whether it follows a `--`, so that programs read it as an operand.
    pub is_after_dashes: bool,
}

impl Argument {
    /// Returns an argument that is one word.
    pub(crate) const fn word(kind: ArgumentKind, value: Option<Value>, span: Span) -> Self {
        Self { kind, value, span, is_many: false, is_after_dashes: false }
    }
}

/// The meaning of a word for its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentKind {
    /// The name of a sub-command.
    Sub,
    /// A declared option, by the name that was given.
    Option(NameId),
    /// `--help` or `--version`, which every program may have.
    Help,
    /// An operand.
    Operand(Option<Role>),
}

/// The reason why a call does less: a dry run, a check or a help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cap {
    /// A declared option.
    Flag(FlagId),
    /// A declared value of an option.
    Value(u32),
    /// `--help` or `--version`.
    Help,
}
