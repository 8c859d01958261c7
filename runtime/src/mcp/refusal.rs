//! Why a prompt or a resource is not answered: the error for the client, and the reason for the
//! audit record.

use relay_bundle::Corrupt;
use relay_engine::prompt::FillError;
use rmcp::ErrorData;
use serde_json::json;

use crate::caller::shown;
use crate::load::Loaded;

/// Why a request is refused.
pub(super) enum Refusal {
    /// The request is at fault. The text is for the caller.
    Invalid(String),
    /// There is nothing under this URI. The text is for the caller.
    NotFound { reason: String, uri: String },
    /// The bundle is not what was signed.
    Damaged(Corrupt),
}

impl Refusal {
    /// Returns what the audit record gives as the rule.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::Invalid(reason) | Self::NotFound { reason, .. } => shown(reason),
            Self::Damaged(damage) => damage.to_string(),
        }
    }

    /// Returns the error for the client; the cause of damage goes to the log alone.
    pub(super) fn into_error(self, loaded: &Loaded) -> ErrorData {
        match self {
            Self::Invalid(reason) => ErrorData::invalid_params(shown(&reason), None),
            // rmcp sends -32602 to modern peers and keeps -32002 for those of the older era.
            Self::NotFound { reason, uri } => {
                ErrorData::resource_not_found(shown(&reason), Some(json!({ "uri": shown(&uri) })))
            }
            Self::Damaged(damage) => damaged(loaded, &damage),
        }
    }
}

impl From<Corrupt> for Refusal {
    fn from(damage: Corrupt) -> Self {
        Self::Damaged(damage)
    }
}

impl From<FillError> for Refusal {
    fn from(error: FillError) -> Self {
        match error {
            FillError::Corrupt(damage) => Self::Damaged(damage),
            other => Self::Invalid(other.to_string()),
        }
    }
}

/// Returns the error for a request that met a damaged page, and notes the damage.
pub(super) fn damaged(loaded: &Loaded, damage: &Corrupt) -> ErrorData {
    loaded.note_damage(damage);
    ErrorData::internal_error(
        "the bundle is damaged; whoever runs this server must replace it",
        None,
    )
}
