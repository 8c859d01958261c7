//! MCP over HTTP: what stands behind `/mcp`, for requests that were let through to it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::handler::Handler;
use super::sessions::Sessions;
use crate::principal::Principal;
use crate::server::Server;

const SESSION_HEADER: &str = "mcp-session-id";
const VERSION_HEADER: &str = "mcp-protocol-version";
const METHOD_HEADER: &str = "mcp-method";
/// From this version on there are no sessions.
const MODERN: &str = "2026-07-28";

/// Answers MCP requests over HTTP.
pub(crate) struct Endpoint {
    service: StreamableHttpService<Handler, LocalSessionManager>,
    sessions: Sessions,
}

impl Endpoint {
    /// Makes the endpoint; `streams` ends the streams that are open when it is cancelled.
    pub(crate) fn new(server: &Arc<Server>, streams: CancellationToken) -> Self {
        let limits = &server.settings.limits;
        let sessions = Sessions::new(limits);
        let config = StreamableHttpServerConfig::default()
            .with_json_response(true)
            .with_max_request_body_bytes(limits.body_bytes_max.get())
            .with_cancellation_token(streams)
            // `http::origin` has checked them already, with its own list and for every path.
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let server = server.clone();
        let handler = move || Ok(Handler::new(server.clone()));
        Self { service: StreamableHttpService::new(handler, sessions.manager(), config), sessions }
    }

    /// Answers one request of `principal`.
    pub(crate) async fn answer(&self, mut request: Request, principal: Arc<Principal>) -> Response {
        request.extensions_mut().insert(principal.clone());
        if is_modern(&request) {
            // Whoever sends a session's id all the same shall not reach that session by it.
            request.headers_mut().remove(SESSION_HEADER);
            return self.service.handle(request).await.map(Body::new);
        }
        match session_id(request.headers()) {
            // A foreign session is as unknown as one that never was.
            Some(id) if !self.sessions.is_owner(id, &principal) => unknown_session(),
            Some(_) if request.method() == Method::DELETE => self.end(request).await,
            Some(_) => self.service.handle(request).await.map(Body::new),
            None if request.method() == Method::POST => self.begin(request, principal).await,
            None => self.service.handle(request).await.map(Body::new),
        }
    }

    /// Answers a request that may begin a session.
    async fn begin(&self, request: Request, principal: Arc<Principal>) -> Response {
        let Some(_room) = self.sessions.reserve().await else { return too_many_sessions() };
        let response = self.service.handle(request).await.map(Body::new);
        if let Some(id) = session_id(response.headers()) {
            self.sessions.claim(id, principal).await;
        }
        response
    }

    /// Answers a request that ends a session. rmcp says 202, which clients take for a failure.
    async fn end(&self, request: Request) -> Response {
        let mut response = self.service.handle(request).await.map(Body::new);
        if response.status() == StatusCode::ACCEPTED {
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        response
    }
}

/// Returns whether a request can neither begin a session nor belong to one. rmcp begins one for
/// every `initialize`, whatever its version, and refuses a method that the body contradicts.
fn is_modern(request: &Request) -> bool {
    let header = |name| request.headers().get(name);
    let method = header(METHOD_HEADER);
    header(VERSION_HEADER).is_some_and(|version| version == MODERN)
        && (request.method() != Method::POST || method.is_some_and(|name| name != "initialize"))
}

fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION_HEADER).map(HeaderValue::to_str)?.ok()
}

fn unknown_session() -> Response {
    (StatusCode::NOT_FOUND, "session not found: begin a new one with initialize\n").into_response()
}

fn too_many_sessions() -> Response {
    let retry = [(header::RETRY_AFTER, "60")];
    (StatusCode::SERVICE_UNAVAILABLE, retry, "too many sessions: try again later\n").into_response()
}
