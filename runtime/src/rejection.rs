//! Why a request is rejected: a text for the client, and the reason for the audit record.

use relay_bundle::Corrupt;
use relay_engine::prompt::FillError;
use thiserror::Error;

/// Why a request is rejected.
#[derive(Debug, Error)]
pub(crate) enum Rejection {
    /// The request is malformed. The text is for the caller.
    #[error("{0}")]
    Invalid(String),
    /// No resource has this URI. The text is for the caller.
    #[error("{reason}")]
    NotFound { reason: String, uri: String },
    /// The bundle is not what was signed.
    #[error(transparent)]
    Damaged(#[from] Corrupt),
    /// The server failed; the cause is in the log.
    #[error("{0}")]
    Internal(&'static str),
}

impl From<FillError> for Rejection {
    fn from(error: FillError) -> Self {
        match error {
            FillError::Corrupt(damage) => Self::Damaged(damage),
            other => Self::Invalid(other.to_string()),
        }
    }
}
