//! MCP over HTTP: answers authenticated requests to `/mcp`.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::handler::Handler;
use super::service::Service;
use super::sessions::Sessions;
use crate::principal::Principal;

const SESSION_HEADER: &str = "mcp-session-id";
const VERSION_HEADER: &str = "mcp-protocol-version";
const METHOD_HEADER: &str = "mcp-method";
/// From this version on there are no sessions.
const MODERN: &str = "2026-07-28";

/// Answers MCP requests over HTTP.
pub(crate) struct Endpoint {
    service: StreamableHttpService<Handler, LocalSessionManager>,
    sessions: Sessions,
    body_bytes_max: usize,
    request_timeout: Duration,
}

impl Endpoint {
    /// Creates the endpoint; cancelling `streams` ends the open streams.
    pub(crate) fn new(service: Arc<Service>, streams: CancellationToken) -> Self {
        let limits = &service.server.settings.limits;
        let sessions = Sessions::new(limits);
        let config = StreamableHttpServerConfig::default()
            .with_json_response(true)
            .with_max_request_body_bytes(limits.body_bytes_max.get())
            .with_cancellation_token(streams)
            // `http::origin` has checked them already, with its own list and for every path.
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let body_bytes_max = limits.body_bytes_max.get();
        let request_timeout = Duration::from_secs(limits.request_s_max.get().into());
        let handler = move || Ok(Handler::new(service.clone()));
        let service = StreamableHttpService::new(handler, sessions.manager(), config);
        Self { service, sessions, body_bytes_max, request_timeout }
    }

    /// Answers one request of `principal`.
    ///
    /// The request must arrive completely within its time limit. Its answer has no common limit: a
    /// tool has one of its own, and a stream may stay open.
    pub(crate) async fn answer(&self, request: Request, principal: Arc<Principal>) -> Response {
        let mut request = match timeout(self.request_timeout, self.whole(request)).await {
            Ok(Ok(request)) => request,
            Ok(Err(response)) => return response,
            Err(_) => {
                return (StatusCode::REQUEST_TIMEOUT, "the request took too long\n")
                    .into_response();
            }
        };
        request.extensions_mut().insert(principal.clone());
        if is_modern(&request) {
            // A modern request that has the id of a session must not reach that session.
            request.headers_mut().remove(SESSION_HEADER);
            return self.service.handle(request).await.map(Body::new);
        }
        match session_id(request.headers()) {
            // The session of another caller is reported as unknown.
            Some(id) if !self.sessions.is_owner(id, &principal) => unknown_session(),
            Some(_) if request.method() == Method::DELETE => self.end(request).await,
            Some(_) => self.service.handle(request).await.map(Body::new),
            None if request.method() == Method::POST => self.begin(request, principal).await,
            None => self.service.handle(request).await.map(Body::new),
        }
    }

    /// Reads the body of a request.
    async fn whole(&self, request: Request) -> Result<Request, Response> {
        let (head, body) = request.into_parts();
        let body = to_bytes(body, self.body_bytes_max).await.map_err(|error| {
            // The other error is a client that disconnects, which reads no answer.
            tracing::debug!("the body of a request cannot be read: {error}");
            let text = format!("the body of a request has at most {} bytes\n", self.body_bytes_max);
            (StatusCode::PAYLOAD_TOO_LARGE, text).into_response()
        })?;
        Ok(Request::from_parts(head, Body::from(body)))
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

    /// Answers a request that ends a session. rmcp answers 202, which clients treat as a failure.
    async fn end(&self, request: Request) -> Response {
        let mut response = self.service.handle(request).await.map(Body::new);
        if response.status() == StatusCode::ACCEPTED {
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        response
    }
}

/// Returns whether a request can neither begin a session nor belong to one. rmcp begins one for
/// every `initialize` of any version, and rejects a method header that the body contradicts.
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
