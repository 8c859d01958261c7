//! The tools that relay itself offers.

/// A tool of relay's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    /// Gives a briefing for a task.
    BeginSession,
    /// Gives more prompts by keyword.
    ReadPrompts,
    /// Tells about the server.
    ServerInfo,
    /// Shows the last audit records.
    AuditTail,
}

impl Tool {
    /// All of them, in the order of the list.
    pub const ALL: [Self; 4] =
        [Self::BeginSession, Self::ReadPrompts, Self::ServerInfo, Self::AuditTail];

    /// Returns the name that `tools/call` takes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BeginSession => "begin_session",
            Self::ReadPrompts => "read_prompts",
            Self::ServerInfo => "server_info",
            Self::AuditTail => "audit_tail",
        }
    }

    /// Returns the tool of a name; `None` if relay has none.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Returns the tier, 0 (reads) to 3 (cannot be undone).
    #[must_use]
    pub const fn tier(self) -> u8 {
        match self {
            Self::BeginSession | Self::ReadPrompts | Self::ServerInfo | Self::AuditTail => 0,
        }
    }

    /// Returns whether a briefing must precede it where a gate is.
    ///
    /// The tools that give briefings are how one gets past it.
    #[must_use]
    pub const fn is_gated(self) -> bool {
        match self {
            Self::BeginSession | Self::ReadPrompts => false,
            Self::ServerInfo | Self::AuditTail => true,
        }
    }
}
