//! Why a command stopped, as a message for the user: fault, place, and remedy.

use std::io;
use std::path::Path;

use relay_bundle::envelope::EnvelopeError;
use relay_bundle::{Corrupt, OpenError};
use relay_engine::system_error;

use crate::exit::Exit;
use crate::text::shown_path;

/// Why a command stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The reader of standard output closed it while input was still judged line by line.
    ClosedPipe,
    /// Something is wrong, or the answer is no.
    Stopped {
        /// The exit code.
        exit: Exit,
        /// The fault, in lower case and without a full stop.
        message: String,
        /// The remedy.
        help: Option<String>,
    },
}

impl Failure {
    /// Returns a failure with exit code 2: the command could not do its work.
    pub(crate) fn error(message: impl Into<String>) -> Self {
        Self::Stopped { exit: Exit::Failed, message: message.into(), help: None }
    }

    /// Returns a failure with exit code 1: the answer is no.
    pub(crate) fn no(message: impl Into<String>) -> Self {
        Self::Stopped { exit: Exit::No, message: message.into(), help: None }
    }

    /// Returns the same failure with exit code 1.
    pub(crate) fn into_no(self) -> Self {
        match self {
            Self::ClosedPipe => self,
            Self::Stopped { exit: _, message, help } => {
                Self::Stopped { exit: Exit::No, message, help }
            }
        }
    }

    /// Returns a failure to use a file; `doing` is a verb such as `read` or `write`.
    pub(crate) fn file(doing: &str, path: &Path, error: &io::Error) -> Self {
        let reason = match (error.kind(), doing) {
            (io::ErrorKind::NotFound, "write" | "create") => "its folder does not exist".into(),
            (io::ErrorKind::NotFound, "list") => "the folder does not exist".into(),
            _ => system_error::reason(error),
        };
        Self::error(format!("cannot {doing} `{}`: {reason}", shown_path(path)))
    }

    /// Adds the remedy.
    pub(crate) fn help(self, text: impl Into<String>) -> Self {
        match self {
            Self::ClosedPipe => self,
            Self::Stopped { exit, message, help: _ } => {
                Self::Stopped { exit, message, help: Some(text.into()) }
            }
        }
    }
}

/// Returns the cause of an error of a file or a folder, to follow a colon.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "the file or folder does not exist".into(),
        _ => system_error::reason(error),
    }
}

impl From<Corrupt> for Failure {
    fn from(error: Corrupt) -> Self {
        Self::error(error.to_string())
    }
}

impl From<EnvelopeError> for Failure {
    fn from(error: EnvelopeError) -> Self {
        Self::error(error.to_string())
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self::error(error.to_string())
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::error(format!("the answer cannot be written as JSON: {error}"))
    }
}
