//! Health: whether the process lives, and whether it is ready.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use serde_json::json;

use super::auth::Authenticator;
use super::jwt::KeySetStatus;
use crate::record::audit::Health;
use crate::server::Server;
use crate::trust::loaded::REVOKED;

/// The code of JSON-RPC for a failure of the server.
const INTERNAL_ERROR: i64 = -32603;

/// The body of `/readyz`.
#[derive(Serialize)]
struct Readiness<'a> {
    format_version: u32,
    /// `ready` or `degraded`.
    state: &'static str,
    project: &'a str,
    version: Option<&'a str>,
    digest: String,
    epoch: u64,
    /// `verified`; `damaged` if a used page differs from the signed one; `revoked` if the trust
    /// file revokes the bundle or a key that signed it.
    bundle: &'static str,
    /// The reason for which a server that starts now would refuse the bundle, if it would.
    #[serde(skip_serializing_if = "Option::is_none")]
    trust_error: Option<String>,
    audit: Health,
    /// Why the last reload failed.
    last_reload_error: Option<String>,
    /// The key sets from URLs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    key_sets: Vec<KeySetStatus>,
}

pub(super) async fn alive() -> &'static str {
    "alive\n"
}

/// Answers 200 only while the bundle is intact and unrevoked, audit records are written, and the
/// credentials of some caller can be checked.
pub(super) fn ready(server: &Server, auth: Option<&Authenticator>) -> Response {
    let loaded = server.loaded();
    let manifest = loaded.manifest();
    server.audit.retry(loaded.digest());
    let audit = server.audit.health();
    let is_revoked = loaded.in_force().is_err();
    // The callers of other issuers must be served while one issuer is down.
    let can_authenticate = auth.is_none_or(Authenticator::can_authenticate);
    let is_sound = !loaded.is_damaged() && !is_revoked && audit != Health::Failing;
    let is_ready = is_sound && can_authenticate;
    let readiness = Readiness {
        format_version: 1,
        state: if is_ready { "ready" } else { "degraded" },
        project: &manifest.project.value,
        version: manifest.version.as_ref().map(|version| version.value.as_str()),
        digest: loaded.digest().to_string(),
        epoch: loaded.epoch(),
        bundle: match (is_revoked, loaded.is_damaged()) {
            (true, _) => "revoked",
            (false, true) => "damaged",
            (false, false) => "verified",
        },
        trust_error: server.doubt(),
        audit,
        last_reload_error: server.last_reload_error(),
        key_sets: auth.map(Authenticator::key_sets).unwrap_or_default(),
    };
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    json(status, &readiness)
}

/// Answers any request to MCP while the bundle in force is revoked.
pub(super) fn revoked() -> Response {
    let error = json!({
        "jsonrpc": "2.0",
        "id": null,
        "error": { "code": INTERNAL_ERROR, "message": REVOKED },
    });
    json(StatusCode::SERVICE_UNAVAILABLE, error)
}

/// Answers with `value` as JSON.
pub(super) fn json(status: StatusCode, value: impl Serialize) -> Response {
    match serde_json::to_vec(&value) {
        Ok(body) => (status, [(header::CONTENT_TYPE, "application/json")], body).into_response(),
        Err(error) => {
            tracing::error!("an answer is not JSON: {error}");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
