//! Why a command stopped, in words for its user: what, where, and what to do.

use std::io;
use std::path::Path;

use relay_bundle::envelope::EnvelopeError;
use relay_bundle::{Corrupt, OpenError};

use crate::exit::Exit;

/// Why a command stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The reader of standard output has gone: nothing is wrong.
    ClosedPipe,
    /// Something is wrong, or the answer is no.
    Stopped {
        /// How the command ends.
        exit: Exit,
        /// What is wrong, in lower case and without a full stop.
        message: String,
        /// What to do about it.
        help: Option<String>,
    },
}

impl Failure {
    /// The command could not tell.
    pub(crate) fn unknown(message: impl Into<String>) -> Self {
        Self::Stopped { exit: Exit::Unknown, message: message.into(), help: None }
    }

    /// The answer is no.
    pub(crate) fn no(message: impl Into<String>) -> Self {
        Self::Stopped { exit: Exit::No, message: message.into(), help: None }
    }

    /// A file could not be used: `doing` is `read` or `write`.
    pub(crate) fn file(doing: &str, path: &Path, error: &io::Error) -> Self {
        Self::unknown(format!("cannot {doing} `{}`: {}", path.display(), reason(error)))
    }

    /// Says what to do about it.
    pub(crate) fn help(self, text: impl Into<String>) -> Self {
        match self {
            Self::ClosedPipe => self,
            Self::Stopped { exit, message, help: _ } => {
                Self::Stopped { exit, message, help: Some(text.into()) }
            }
        }
    }
}

/// Returns what the system says, in our words where we have better ones.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::IsADirectory => "it is a folder".into(),
        io::ErrorKind::AlreadyExists => "it exists already".into(),
        io::ErrorKind::StorageFull => "the disk is full".into(),
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".into(),
        _ => {
            let text = error.to_string();
            // Rust puts the number after the words: `File name too long (os error 36)`.
            text.split_once(" (os error").map_or(text.as_str(), |(words, _)| words).to_lowercase()
        }
    }
}

impl From<Corrupt> for Failure {
    fn from(error: Corrupt) -> Self {
        Self::unknown(error.to_string())
    }
}

impl From<EnvelopeError> for Failure {
    fn from(error: EnvelopeError) -> Self {
        Self::unknown(error.to_string())
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self::unknown(error.to_string())
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::unknown(format!("the answer cannot be written as JSON: {error}"))
    }
}
