//! Why a request is rejected: a text for the client, and the reason for the audit record.

use relay_bundle::Corrupt;
use relay_engine::prompt::FillError;
use thiserror::Error;

/// Why a request is rejected.
#[derive(Debug, Error)]
pub(crate) enum Rejection {
    /// The request is malformed. The text is only for the caller.
    #[error("{0}")]
    Invalid(String),
    /// The request is malformed. The text is for the caller. The rule is for the record, and
    /// repeats no text of the caller.
    #[error("{text}")]
    Wrong { text: String, rule: String },
    /// The URI is of no visible resource. The reason is for the caller, and the rule for the
    /// record.
    #[error("{reason}")]
    NotFound { reason: String, uri: String, rule: String },
    /// The bundle differs from the signed one.
    #[error(transparent)]
    Damaged(#[from] Corrupt),
    /// The server failed; the cause is in the log.
    #[error("{0}")]
    Internal(&'static str),
}

impl Rejection {
    /// Returns the reason for a record, without text of the caller.
    pub(crate) fn rule(&self) -> String {
        match self {
            Self::Invalid(_) => "the request is not valid".to_owned(),
            Self::Wrong { text: _, rule } | Self::NotFound { rule, .. } => rule.clone(),
            Self::Damaged(damage) => damage.to_string(),
            Self::Internal(reason) => (*reason).to_owned(),
        }
    }
}

/// The end of a record's reason for a hidden thing.
const NOT_FOR_CALLER: &str = " is not for the caller";

/// Returns the reason for a record of a missing or hidden thing. Answers to the caller are the same
/// for both.
pub(crate) fn unknown(what: &str, is_hidden: bool) -> String {
    if is_hidden { format!("this {what}{NOT_FOR_CALLER}") } else { format!("unknown {what}") }
}

/// Rewrites the reason for a hidden thing as that for a missing one; `None` for other reasons.
pub(crate) fn as_unknown(rule: &str) -> Option<String> {
    let (what, because) = rule.strip_prefix("this ")?.split_once(NOT_FOR_CALLER)?;
    Some(format!("{}{because}", unknown(what, false)))
}

impl From<FillError> for Rejection {
    fn from(error: FillError) -> Self {
        match error {
            FillError::Corrupt(damage) => Self::Damaged(damage),
            other => Self::Wrong { text: other.to_string(), rule: other.rule() },
        }
    }
}
