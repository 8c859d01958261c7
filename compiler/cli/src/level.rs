//! The gravity of a finding, in the words of the forms for other programs.

/// The gravity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// It must not pass unseen.
    Error,
    /// Someone will probably regret it.
    Warning,
    /// It is worth knowing.
    Note,
}

impl Level {
    /// Returns the level of a SARIF result.
    pub(crate) fn in_sarif(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }

    /// Returns the workflow command of GitHub Actions.
    pub(crate) fn command(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "notice",
        }
    }
}
