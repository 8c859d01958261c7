//! The exit codes of `relay`. Scripts may rely on the numbers.

use std::process::ExitCode;

/// The outcome of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command succeeded; the answer is yes.
    Yes,
    /// The command succeeded; the answer is no: errors in the project, not trusted, `fmt --check`
    /// or `diff --exit-code` differs, `diff --fail-on` trips.
    No,
    /// The command failed: a wrong command line, an error of reading or writing a file.
    Failed,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Yes => 0,
            Exit::No => 1,
            Exit::Failed => 2,
        })
    }
}
