//! Events for a trial of an installation, and how clients understand the answers.
//!
//! A forbidden event never depends on the project: a shell and a file tool write to relay's own machine
//! file, which always needs a person; an MCP and a fetch tool have arguments of a wrong type, which are
//! always denied. Nothing is run: `relay-hook` only decides.

use serde_json::{Value, json};

use crate::shell;

/// The id of the session of trials, by which their records are told from those of people.
pub(crate) const SESSION: &str = "relay-hook-test";
/// The name of the server of MCP trials.
pub(super) const SERVER: &str = "relay-test";
/// The name of its tool.
pub(super) const TOOL: &str = "ping";

/// A kind of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It runs a command.
    Shell,
    /// It reads or writes a file.
    File,
    /// A tool of an MCP server.
    Mcp,
    /// It fetches an address.
    Fetch,
}

impl Kind {
    /// All kinds.
    pub(crate) const ALL: [Self; 4] = [Self::Shell, Self::File, Self::Mcp, Self::Fetch];

    /// Returns its name.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::File => "file",
            Self::Mcp => "mcp",
            Self::Fetch => "fetch",
        }
    }

    /// Returns whether a forbidden event of this kind can be read, and so has a record.
    pub(crate) const fn is_recorded(self) -> bool {
        matches!(self, Self::Shell | Self::File)
    }
}

/// An event to play.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample<'s> {
    /// The kind of the tool.
    pub(crate) kind: Kind,
    /// Whether it must be denied, or asked about.
    pub(crate) is_forbidden: bool,
    /// The folder of the call.
    pub(crate) cwd: &'s str,
    /// A file of relay's own.
    pub(crate) own: &'s str,
}

impl Sample<'_> {
    /// Returns the command of a shell tool.
    pub(super) fn command(&self) -> String {
        match self.is_forbidden {
            true => format!("printf x > {}", shell::word(self.own)),
            false => "true".to_owned(),
        }
    }

    /// Returns the path of a file tool.
    pub(super) fn path(&self) -> String {
        match self.is_forbidden {
            true => self.own.to_owned(),
            false => format!("{}/README.md", self.cwd.trim_end_matches('/')),
        }
    }

    /// Returns a name for a file tool: one that writes for a forbidden event, else one that reads.
    pub(super) const fn file_tool(
        &self,
        writes: &'static str,
        reads: &'static str,
    ) -> &'static str {
        if self.is_forbidden { writes } else { reads }
    }

    /// Returns the arguments as the client sends them.
    pub(super) fn input(&self, input: Value) -> Value {
        if self.is_forbidden && !self.kind.is_recorded() { json!(7) } else { input }
    }

    /// Returns the events of Claude Code and the clients that follow it, with further members.
    pub(super) fn like_claude(&self, tool: &str, input: Value, more: Value) -> Value {
        let mut event = json!({
            "session_id": SESSION,
            "transcript_path": "/dev/null",
            "cwd": self.cwd,
            "hook_event_name": "PreToolUse",
            "tool_name": tool,
            "tool_input": self.input(input),
            "tool_use_id": SESSION,
        });
        if let (Value::Object(event), Value::Object(more)) = (&mut event, more) {
            event.extend(more);
        }
        event
    }
}

/// The end of `relay-hook` as a client sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answered {
    /// The exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
}

/// How a client understands an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The call is refused.
    Deny,
    /// A person is asked.
    Ask,
    /// The call runs unasked.
    Allow,
    /// The client's own rules go on.
    Silent,
    /// The client takes it for a hook that failed.
    Unclear,
}

impl Reading {
    /// Returns its word in records.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Allow => "allow",
            Self::Silent => "none",
            Self::Unclear => "unclear",
        }
    }
}

impl Answered {
    /// Returns a member of the JSON on standard output, by its path.
    fn member(&self, path: &[&str]) -> Option<String> {
        let value: Value = serde_json::from_str(&self.stdout).ok()?;
        let found = path.iter().try_fold(&value, |value, key| value.get(key))?;
        Some(found.as_str().map_or_else(|| found.to_string(), str::to_owned))
    }

    /// Returns how a client understands the answer that has its decision in this member.
    ///
    /// A denial counts only in all three forms: some clients take one without the others for none.
    pub(super) fn read(&self, path: &[&str]) -> Reading {
        let decision = self.member(path);
        match (self.code, decision.as_deref()) {
            (Some(2), Some("deny")) if !self.stderr.trim().is_empty() => Reading::Deny,
            (Some(0), Some("ask")) => Reading::Ask,
            (Some(0), Some("allow")) => Reading::Allow,
            (Some(0), None) if self.is_silent() => Reading::Silent,
            _ => Reading::Unclear,
        }
    }

    /// Returns whether standard output is empty or an object, which may hold a text for the model.
    fn is_silent(&self) -> bool {
        let text = self.stdout.trim();
        text.is_empty() || serde_json::from_str::<serde_json::Map<String, Value>>(text).is_ok()
    }
}
