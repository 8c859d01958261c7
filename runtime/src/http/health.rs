//! Health: whether the process lives, and whether it is ready.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;

use crate::audit::Health;
use crate::server::Server;

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
    /// `verified`, or `damaged` if a page that was used is not what was signed.
    bundle: &'static str,
    audit: Health,
    /// Why the last reload failed.
    last_reload_error: Option<String>,
}

pub(super) async fn alive() -> &'static str {
    "alive\n"
}

/// Answers 200 only while the bundle is what was signed and audit records are written.
pub(super) fn ready(server: &Server) -> Response {
    let loaded = server.loaded();
    let manifest = loaded.bundle.manifest();
    let audit = server.audit.health();
    let is_ready = !loaded.is_damaged() && audit != Health::Failing;
    let readiness = Readiness {
        format_version: 1,
        state: if is_ready { "ready" } else { "degraded" },
        project: &manifest.project.value,
        version: manifest.version.as_ref().map(|version| version.value.as_str()),
        digest: loaded.bundle.digest().to_string(),
        epoch: loaded.bundle.epoch(),
        bundle: if loaded.is_damaged() { "damaged" } else { "verified" },
        audit,
        last_reload_error: server.last_reload_error(),
    };
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    json(status, &readiness)
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
