//! How `relay` ends. The numbers are a promise to scripts.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what was asked; the answer is yes.
    Yes,
    /// It did what was asked; the answer is no: errors in the project, not trusted, `fmt --check`
    /// differs.
    No,
    /// It could not tell: a wrong command line, a file that cannot be read or written.
    Unknown,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Yes => 0,
            Exit::No => 1,
            Exit::Unknown => 2,
        })
    }
}
