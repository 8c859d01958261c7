//! A rejection -> the error for the client.

use relay_bundle::Corrupt;
use rmcp::ErrorData;
use serde_json::json;

use crate::caller::rejection::Rejection;
use crate::caller::truncate;
use crate::trust::loaded::Loaded;

/// Returns the error for the client; the cause of damage is only logged.
pub(super) fn error(rejection: Rejection, loaded: &Loaded) -> ErrorData {
    match rejection {
        Rejection::Invalid(text) | Rejection::Wrong { text, .. } => {
            ErrorData::invalid_params(truncate(&text), None)
        }
        // rmcp sends -32602 to modern clients and keeps -32002 for legacy ones.
        Rejection::NotFound { reason, uri, .. } => {
            ErrorData::resource_not_found(truncate(&reason), Some(json!({ "uri": truncate(&uri) })))
        }
        Rejection::Damaged(damage) => damaged(loaded, &damage),
        Rejection::Internal(reason) => ErrorData::internal_error(reason, None),
    }
}

/// Returns the error for a request that needs a damaged page, and records the damage.
pub(super) fn damaged(loaded: &Loaded, damage: &Corrupt) -> ErrorData {
    loaded.note_damage(damage);
    ErrorData::internal_error(
        "the bundle is damaged: the operator of this server must replace it",
        None,
    )
}
