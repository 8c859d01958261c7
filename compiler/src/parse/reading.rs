//! The way to read a markdown file: its owner, and the settings of its folder.

use crate::ast::{FrontMatterRule, OnError};

/// The owner of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A command, as Claude Code and others read it.
    Command,
    /// A prompt of the project's own.
    Folder,
    /// The `SKILL.md` of an agent skill.
    AgentSkill,
}

/// The way to read a markdown file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) kind: Kind,
    pub(crate) rule: FrontMatterRule,
    pub(crate) on_error: OnError,
}
