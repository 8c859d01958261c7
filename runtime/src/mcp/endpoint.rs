//! MCP over HTTP: answers authenticated requests to `/mcp`.

use std::any::Any;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use http_body_util::BodyExt as _;
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::body::{self, Unread, has_more_values};
use super::direct;
use super::edge;
use super::handler::Handler;
use super::lane::Lane;
use super::reached::Reached;
use super::service::Service;
use super::sessions::{Full, Sessions};
use crate::caller::activity::Activity;
use crate::caller::bodies::Bodies;
use crate::caller::principal::Principal;

const SESSION_HEADER: &str = "mcp-session-id";
const VERSION_HEADER: &str = "mcp-protocol-version";
const METHOD_HEADER: &str = "mcp-method";
/// Sessions end with this version.
const MODERN: &str = "2026-07-28";

tokio::task_local! {
    /// The caller of the request that rmcp gets: it makes a handler for a request or a session and
    /// leaves the caller out.
    static ASKER: Arc<Principal>;
}

/// Answers MCP requests over HTTP.
pub(crate) struct Endpoint {
    rmcp: StreamableHttpService<Handler, LocalSessionManager>,
    service: Arc<Service>,
    sessions: Sessions,
    bodies: Bodies,
    lane: Lane,
    body_bytes_max: usize,
    body_values_max: usize,
    request_timeout: Duration,
}

/// The open streams and sessions of clients.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Open {
    pub(crate) sessions: usize,
    pub(crate) streams: usize,
}

impl Endpoint {
    /// Creates the endpoint; cancelling `streams` ends the open streams.
    pub(crate) fn new(service: Arc<Service>, streams: CancellationToken) -> io::Result<Self> {
        let settings = &service.server.settings;
        let limits = &settings.limits;
        let sessions = Sessions::new(settings);
        let config = StreamableHttpServerConfig::default()
            .with_json_response(true)
            .with_max_request_body_bytes(limits.body_bytes_max.get())
            .with_cancellation_token(streams)
            // `http::origin` has checked them already, with its own list and for every path.
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let body_bytes_max = limits.body_bytes_max.get();
        let body_values_max = limits.body_values_max.get();
        let bodies =
            Bodies::new(limits.principal_bodies_bytes_max.get(), limits.bodies_bytes_max.get());
        let request_timeout = Duration::from_secs(limits.request_s_max.get().into());
        let shared = service.clone();
        let handler = move || {
            let principal = ASKER.try_with(Arc::clone);
            let principal = principal.map_err(|_| io::Error::other("no caller"))?;
            Ok(Handler::new(shared.clone(), principal))
        };
        let rmcp = StreamableHttpService::new(handler, sessions.manager(), config);
        Ok(Self {
            rmcp,
            service,
            sessions,
            bodies,
            lane: Lane::new()?,
            body_bytes_max,
            body_values_max,
            request_timeout,
        })
    }

    /// Returns the open streams and sessions of clients.
    pub(crate) async fn open(&self) -> Open {
        Open { sessions: self.sessions.count().await, streams: self.service.listeners.streams() }
    }

    /// Answers one request of `principal`.
    ///
    /// The request must arrive completely within its time limit. Its answer may take longer: a tool
    /// has a limit of its own, and a stream may stay open.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        request: Request,
        principal: Arc<Principal>,
    ) -> Response {
        let (endpoint, asker) = (self.clone(), principal.clone());
        let answer =
            |request, body| async move { endpoint.answer_read(request, body, asker).await };
        self.read(request, &principal, answer).await
    }

    /// Reads the body of a request of `principal` within the limits of bodies, and answers it.
    pub(crate) async fn read<A: Future<Output = Response> + Send + 'static>(
        self: &Arc<Self>,
        request: Request,
        principal: &Arc<Principal>,
        answer: impl FnOnce(Request, Bytes) -> A,
    ) -> Response {
        let (head, body) = request.into_parts();
        let read = body::read(body, self.body_bytes_max, &self.bodies, principal);
        let read = match timeout(self.request_timeout, read).await {
            Ok(Ok(read)) => read,
            Ok(Err(unread)) => return self.not_read(principal, &unread),
            Err(_) => return self.not_read(principal, &Unread::Late),
        };
        let mut request = Request::from_parts(head, Body::from(read.bytes.clone()));
        if let Some(activity) = request.extensions().get::<Arc<Activity>>() {
            activity.arrived();
        }
        let Some(room) = read.room else {
            return answer(request, read.bytes).await;
        };
        // The room is free again when the handler is done with the parameters.
        request.extensions_mut().insert(room);
        match self.lane.run(answer(request, read.bytes)).await {
            Some(Ok(response)) => response,
            ended => {
                tracing::error!("a large request was not answered: {ended:?}");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }

    /// Answers a request whose body is unread.
    fn not_read(&self, principal: &Arc<Principal>, unread: &Unread) -> Response {
        let status = match unread {
            Unread::TooLong { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Unread::Late => StatusCode::REQUEST_TIMEOUT,
            Unread::Broken(_) => StatusCode::BAD_REQUEST,
            Unread::NoMemory(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        tracing::debug!("{unread}");
        self.service.server.refuse_request(principal, unread.rule());
        (status, format!("{unread}\n")).into_response()
    }

    /// Returns why a body has too many values to be parsed.
    pub(crate) fn too_many_values(&self, body: &Bytes) -> Option<String> {
        let max = self.body_values_max;
        let is_over = has_more_values(body, max);
        is_over.then(|| format!("the body has more than {max} values (limits.body-values-max)"))
    }

    /// Answers a request whose body has been read.
    async fn answer_read(
        self: &Arc<Self>,
        mut request: Request,
        body: Bytes,
        principal: Arc<Principal>,
    ) -> Response {
        if let Some(reason) = self.too_many_values(&body) {
            self.service.server.refuse_request(&principal, &reason);
            return error(ErrorData::invalid_request(reason, None), None);
        }
        if let Some(answer) = direct::http::answer(&self.service, &request, &body, &principal) {
            return answer;
        }
        let reached = Arc::<Reached>::default();
        request.extensions_mut().insert(principal.clone());
        request.extensions_mut().insert(reached.clone());
        edge::expand_accept(request.headers_mut());
        let is_message = request.method() == Method::POST && has_json(request.headers());
        let response = self.pass(request, &body, principal.clone()).await;
        let status = response.status();
        let is_rejected = status.is_client_error() || status == StatusCode::ACCEPTED;
        if !is_message || !is_rejected || reached.get() {
            return response;
        }
        edge::record(&self.service.server, &principal, &body, status);
        match (status, edge::bad_initialize(&body)) {
            (StatusCode::ACCEPTED, _) => response,
            (_, Some((reason, id))) => error(reason, id),
            // rmcp answers any unreadable body so.
            (StatusCode::UNSUPPORTED_MEDIA_TYPE, None) => unreadable(&body),
            _ => response,
        }
    }

    /// Passes on to rmcp a request that its caller may send.
    async fn pass(
        self: &Arc<Self>,
        mut request: Request,
        body: &Bytes,
        principal: Arc<Principal>,
    ) -> Response {
        if is_modern(&request) {
            // A modern request with the id of a session stays outside of that session.
            request.headers_mut().remove(SESSION_HEADER);
            return self.forward(request).await;
        }
        match session_id(request.headers()) {
            // The session of another caller is reported as unknown.
            Some(id) if !self.sessions.is_owner(id, &principal) => unknown_session(),
            Some(_) if request.method() == Method::DELETE => self.end(request).await,
            Some(_) if request.method() == Method::GET => self.listen(request, &principal).await,
            Some(_) => self.ask(request, body).await,
            None if request.method() == Method::POST => {
                // The session of a client that disconnects must still get its owner.
                let endpoint = self.clone();
                let begun = tokio::spawn(async move { endpoint.begin(request, principal).await });
                begun.await.unwrap_or_else(|error| {
                    tracing::error!("a session did not begin: {error}");
                    StatusCode::INTERNAL_SERVER_ERROR.into_response()
                })
            }
            None => self.forward(request).await,
        }
    }

    /// Answers by rmcp. Its future is large, and each of the layers above would move it.
    async fn forward(&self, request: Request) -> Response {
        let asker = request.extensions().get::<Arc<Principal>>().cloned();
        let answer = Box::pin(self.rmcp.handle(request));
        match asker {
            Some(asker) => ASKER.scope(asker, answer).await.map(Body::new),
            None => answer.await.map(Body::new),
        }
    }

    /// Answers a request of a session.
    async fn ask(&self, mut request: Request, body: &Bytes) -> Response {
        let session = session_id(request.headers()).unwrap_or_default();
        let Some(id) = request_id(body) else {
            return self.forward(request).await;
        };
        let Some(in_flight) = self.sessions.take_id(session, &id) else {
            let reason = "a request with this id is in flight: give each request an id of its own";
            return error(ErrorData::invalid_request(reason, None), Some(id));
        };
        // The id stays in use until the handler is done and its answer was read.
        let in_flight = Arc::new(in_flight);
        request.extensions_mut().insert(in_flight.clone());
        holding(self.forward(request).await, in_flight)
    }

    /// Answers a request for a stream of notifications and requests of the server.
    async fn listen(&self, request: Request, principal: &Principal) -> Response {
        match self.service.listeners.take_stream(principal) {
            Some(slot) => holding(self.forward(request).await, slot),
            None => {
                let max = self.service.listeners.principal_streams_max();
                too_many_of_caller(&format!("{max} streams are open, which is the limit"))
            }
        }
    }

    /// Answers a request that may begin a session.
    async fn begin(&self, request: Request, principal: Arc<Principal>) -> Response {
        let _room = match self.sessions.reserve(&principal).await {
            Ok(room) => room,
            Err(Full::All) => return too_many_sessions(),
            Err(Full::OfCaller) => {
                return too_many_of_caller("the caller has as many sessions as it may have");
            }
        };
        let response = self.forward(request).await;
        if let Some(id) = session_id(response.headers()) {
            self.sessions.claim(id, principal).await;
        }
        response
    }

    /// Answers a request that ends a session. rmcp answers 202, which clients treat as a failure.
    async fn end(&self, request: Request) -> Response {
        let mut response = self.forward(request).await;
        if response.status() == StatusCode::ACCEPTED {
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        response
    }
}

/// Returns the id of a request; `None` for any other message. Ids of answers are those of the
/// server's requests.
fn request_id(body: &Bytes) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct Message {
        id: Option<RequestId>,
        method: Option<IgnoredAny>,
    }
    let Message { id, method } = serde_json::from_slice(body).ok()?;
    method.and(id)
}

/// Returns whether a request is outside of sessions. rmcp begins one for every `initialize` of any
/// version, and rejects a method header that the body contradicts.
fn is_modern(request: &Request) -> bool {
    let header = |name| request.headers().get(name);
    let method = header(METHOD_HEADER);
    header(VERSION_HEADER).is_some_and(|version| version == MODERN)
        && (request.method() != Method::POST || method.is_some_and(|name| name != "initialize"))
}

fn has_json(headers: &HeaderMap) -> bool {
    let essence = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = essence.and_then(|value| value.split(';').next()).unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION_HEADER).map(HeaderValue::to_str)?.ok()
}

/// Keeps `held` while the body of a response is being sent.
fn holding(response: Response, held: impl Any + Send + Sync) -> Response {
    response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            _ = &held;
            frame
        }))
    })
}

/// Answers a malformed body: invalid JSON, or other JSON than JSON-RPC.
fn unreadable(body: &Bytes) -> Response {
    if serde_json::from_slice::<IgnoredAny>(body).is_err() {
        return error(ErrorData::parse_error("the body is not JSON", None), None);
    }
    let reason = match serde_json::from_slice::<ClientJsonRpcMessage>(body) {
        Ok(_) => "the request is not valid",
        Err(_) if edge::is_batch(body) => edge::BATCH,
        Err(_) => "the body is not a JSON-RPC message",
    };
    error(ErrorData::invalid_request(reason, None), None)
}

fn error(error: ErrorData, id: Option<RequestId>) -> Response {
    match serde_json::to_vec(&ServerJsonRpcMessage::error(error, id)) {
        Ok(body) => {
            let json = [(header::CONTENT_TYPE, "application/json")];
            (StatusCode::BAD_REQUEST, json, body).into_response()
        }
        Err(error) => {
            tracing::error!("an error is not JSON: {error}");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

fn unknown_session() -> Response {
    (StatusCode::NOT_FOUND, "session not found: begin a new one with initialize\n").into_response()
}

fn too_many_sessions() -> Response {
    let retry = [(header::RETRY_AFTER, "60")];
    (StatusCode::SERVICE_UNAVAILABLE, retry, "too many sessions: try again later\n").into_response()
}

fn too_many_of_caller(reason: &str) -> Response {
    let retry = [(header::RETRY_AFTER, "60")];
    (StatusCode::TOO_MANY_REQUESTS, retry, format!("{reason}: end one first\n")).into_response()
}
