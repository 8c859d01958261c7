//! HTTP: the paths of the server, and who may reach MCP.
//!
//! A request passes, in this order: limits of the connection, the `Host` and `Origin` checks,
//! authentication, and then MCP itself. Health checks are open to all.

mod admission;
mod auth;
mod cors;
mod error;
mod health;
mod jwt;
mod lapse;
mod listener;
mod metadata;
mod metrics;
mod origin;
mod request_url;
mod settled;
mod tls;
mod turns;
mod write_limit;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub(crate) use self::error::HttpError;

use self::auth::{Authenticator, Challenge};
use self::jwt::Asked;
use self::listener::{Listener, Routes};
use self::metadata::METADATA_PATH;
use self::origin::Origins;
use self::request_url::MCP_PATH;
use crate::caller::principal::Principal;
use crate::mcp::{Endpoint, Service};
use crate::port::{self, Asking, Form};
use crate::server::Server;
use crate::settings::Settings;
use crate::settings::config::MetricsAccess;
use crate::trust::loaded::REVOKED;
use crate::trust::placed::Placed;

const METRICS_PATH: &str = "/metrics";

/// The state that every request needs.
struct Front {
    server: Arc<Server>,
    auth: Option<Arc<Authenticator>>,
    endpoint: Arc<Endpoint>,
    origins: Origins,
}

/// Serves on `address` until the server closes.
pub(crate) async fn serve(server: Arc<Server>, address: SocketAddr) -> Result<(), HttpError> {
    let settings = &server.settings;
    let listen = |source| HttpError::Listen { address, source };
    let socket = TcpListener::bind(address).await.map_err(listen)?;
    let bound = socket.local_addr().map_err(listen)?;
    let acceptor = settings.tls.as_ref().map(tls::Acceptor::read).transpose()?;
    let streams = CancellationToken::new();
    let service = Service::new(server.clone());
    let auth = settings.auth.as_ref().map(|auth| Authenticator::new(auth, &server)).transpose()?;
    if let Some(auth) = &auth {
        tokio::select! {
            () = auth.first_fetches() => {}
            () = server.closing.cancelled() => return Ok(()),
        }
    }
    let front = Arc::new(Front {
        auth: auth.map(Arc::new),
        endpoint: Arc::new(
            Endpoint::new(service.clone(), streams.clone()).map_err(HttpError::Lane)?,
        ),
        origins: Origins::new(settings, bound)?,
        server: server.clone(),
    });
    let (hangup_front, hangup_acceptor) = (front.clone(), acceptor.clone());
    let hang_up = move |settings: &Settings| {
        if let (Some(auth), Some(new)) = (&hangup_front.auth, &settings.auth) {
            auth.reload(new);
        }
        if let (Some(acceptor), Some(files)) = (&hangup_acceptor, &settings.tls) {
            acceptor.reload(files);
        }
    };
    service.follow(hang_up).map_err(HttpError::Signals)?;
    announce(&server, bound, acceptor.is_some());
    let listener = Listener { socket, acceptor, limits: settings.limits.clone() };
    listener.serve(routes(front), &server, &streams).await;
    Ok(())
}

fn announce(server: &Server, bound: SocketAddr, tls: bool) {
    let scheme = if tls { "https" } else { "http" };
    let loaded = server.loaded();
    let (digest, described) = (loaded.digest(), loaded.described());
    tracing::info!("serving {digest} ({described}) at {scheme}://{bound}{MCP_PATH}");
    if !tls && !bound.ip().is_loopback() {
        tracing::warn!("connections are not encrypted: add [tls], or a proxy that has it");
    }
}

fn routes(front: Arc<Front>) -> Routes {
    let guarded = Router::new()
        .route(METADATA_PATH, get(metadata))
        .route(&format!("{METADATA_PATH}/{{*path}}"), get(metadata))
        .route(MCP_PATH, any(mcp))
        .route(METRICS_PATH, get(metrics))
        .route(port::CONFIGURATION_PATH, get(configuration))
        .route(port::EVALUATION_PATH, any(evaluation))
        .route(port::EVALUATIONS_PATH, any(evaluations))
        .route(port::EXT_AUTHZ_PATH, any(ext_authz))
        .route(&format!("{}/{{*path}}", port::EXT_AUTHZ_PATH), any(ext_authz))
        .route_layer(from_fn_with_state(front.clone(), guard));
    // Probes use addresses outside of the list of hosts.
    let health = Router::new().route("/healthz", get(health::alive)).route("/readyz", get(ready));
    Routes {
        all: guarded.merge(health.clone()).with_state(front.clone()),
        health: health.fallback(too_many_connections).with_state(front),
    }
}

async fn too_many_connections() -> Response {
    let retry = [(header::RETRY_AFTER, "10")];
    let text = "too many connections: try again later\n";
    (StatusCode::SERVICE_UNAVAILABLE, retry, text).into_response()
}

/// Rejects a request for another server, or from a page of another origin. Pages of allowed origins
/// may read the answers.
async fn guard(State(front): State<Arc<Front>>, request: Request, next: Next) -> Response {
    let from = match front.origins.check(&request) {
        Ok(from) => from,
        Err(rejected) => {
            let path = request.uri().path();
            if path == MCP_PATH || is_port(path) {
                front.server.refuse_request(&claimed(&front, &asked(&request)), rejected.rule());
                front.server.audit.settled().await;
            }
            return (StatusCode::FORBIDDEN, format!("{rejected}\n")).into_response();
        }
    };
    let server = front.server.clone();
    let Some(from) = from else { return settled::answer(server, next.run(request).await).await };
    // A proxy asks about the preflights of its own clients, and some take any 2xx for permission.
    let preflight = (!is_port(request.uri().path())).then(|| cors::preflight(&request)).flatten();
    match preflight {
        Some(preflight) => cors::allow(preflight, from),
        None => cors::allow(settled::answer(server, next.run(request).await).await, from),
    }
}

/// Returns the principal that the credentials name, or else one for records.
fn claimed(front: &Front, asked: &Asked<'_>) -> Arc<Principal> {
    match &front.auth {
        None => front.server.settings.principal.clone(),
        Some(auth) => match auth.authenticate(asked) {
            Ok(identity) => identity.principal,
            Err(_) => Principal::unauthenticated(),
        },
    }
}

fn asked(request: &Request) -> Asked<'_> {
    let (headers, method) = (request.headers(), request.method().as_str());
    Asked { headers, method, path: request.uri().path() }
}

async fn mcp(State(front): State<Arc<Front>>, request: Request) -> Response {
    let Some(auth) = &front.auth else {
        return mcp_of(&front, request, front.server.settings.principal.clone()).await;
    };
    let identity = match auth.authenticate(&asked(&request)) {
        Ok(identity) => identity,
        Err(challenge) => return refuse(&front, challenge),
    };
    let credentials = request.headers().get(header::AUTHORIZATION).cloned();
    let credentials = credentials.map(|value| (header::AUTHORIZATION, value)).into_iter().collect();
    let response = mcp_of(&front, request, identity.principal.clone()).await;
    lapse::end_with_credentials(response, auth, credentials, identity)
}

/// Answers a request of `principal`.
async fn mcp_of(front: &Front, request: Request, principal: Arc<Principal>) -> Response {
    if front.server.loaded().in_force().is_err() {
        front.server.refuse_request(&principal, REVOKED);
        return health::revoked();
    }
    if let Some(reason) = front.server.refuse_without_place(&principal) {
        return (StatusCode::FORBIDDEN, format!("{reason}\n")).into_response();
    }
    front.endpoint.answer(request, principal).await
}

/// Answers an unauthenticated request, and records it.
fn refuse(front: &Front, challenge: Challenge) -> Response {
    front.server.metrics.unauthenticated.increment();
    front.server.refuse_caller(challenge.reason(), challenge.claimed());
    challenge.into_response()
}

async fn evaluation(State(front): State<Arc<Front>>, request: Request) -> Response {
    ask(&front, request, Form::Evaluation).await
}

async fn evaluations(State(front): State<Arc<Front>>, request: Request) -> Response {
    ask(&front, request, Form::Evaluations).await
}

async fn ext_authz(State(front): State<Arc<Front>>, request: Request) -> Response {
    ask(&front, request, Form::ExtAuthz).await
}

/// Returns whether a path is one at which gateways ask.
fn is_port(path: &str) -> bool {
    [port::EVALUATION_PATH, port::EVALUATIONS_PATH].contains(&path)
        || path
            .strip_prefix(port::EXT_AUTHZ_PATH)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Answers a question of a gateway.
async fn ask(front: &Arc<Front>, request: Request, form: Form) -> Response {
    let server = &front.server;
    if !server.loaded().has_port() {
        return StatusCode::NOT_FOUND.into_response();
    }
    let principal = match &front.auth {
        None => server.settings.principal.clone(),
        Some(auth) => match auth.authenticate(&asked(&request)) {
            Ok(identity) => identity.principal,
            Err(challenge) => return refuse(front, challenge),
        },
    };
    if form != Form::ExtAuthz && request.method() != Method::POST {
        let allow = [(header::ALLOW, "POST")];
        return (StatusCode::METHOD_NOT_ALLOWED, allow).into_response();
    }
    let asking = match asking(front, principal.clone(), form, request.headers().clone()) {
        Ok(asking) => asking,
        Err((status, reason)) => return form.refuse(status, &reason),
    };
    let endpoint = front.endpoint.clone();
    let answer = |_, body| async move {
        match endpoint.too_many_values(&body) {
            Some(reason) => {
                asking.server.refuse_request(&asking.principal, &reason);
                form.refuse(StatusCode::BAD_REQUEST, &reason)
            }
            None => asking.answer(body).await,
        }
    };
    form.closed(front.endpoint.read(request, &principal, answer).await)
}

/// Returns the gateway in its place; or the refusal, which is recorded.
fn asking(
    front: &Front,
    principal: Arc<Principal>,
    form: Form,
    headers: HeaderMap,
) -> Result<Asking, (StatusCode, String)> {
    let server = front.server.clone();
    if server.loaded().in_force().is_err() {
        server.refuse_request(&principal, REVOKED);
        return Err((StatusCode::SERVICE_UNAVAILABLE, REVOKED.to_owned()));
    }
    if let Some(reason) = server.refuse_without_place(&principal) {
        return Err((StatusCode::FORBIDDEN, reason));
    }
    let loaded = server.loaded().clone();
    match Placed::new(loaded.clone(), &principal) {
        Ok(placed) if placed.loaded.may_ask(placed.role()) => {
            Ok(Asking { server, principal, placed, form, headers })
        }
        Ok(_) => {
            server.refuse_request(&principal, port::NO_RIGHT);
            Err((StatusCode::FORBIDDEN, port::NO_RIGHT.to_owned()))
        }
        Err(damage) => {
            loaded.note_damage(&damage);
            Err((StatusCode::INTERNAL_SERVER_ERROR, damage.to_string()))
        }
    }
}

/// Answers with the endpoints of AuthZEN, at the URL by which clients reach this server.
async fn configuration(State(front): State<Arc<Front>>, request: Request) -> Response {
    if !front.server.loaded().has_port() {
        return StatusCode::NOT_FOUND.into_response();
    }
    let metadata = front.auth.as_ref().and_then(|auth| auth.metadata());
    let resource = metadata.map(|metadata| metadata.resource().to_owned());
    let base = match resource {
        Some(resource) => request_url::of(&resource, "").into_owned(),
        None => {
            let scheme = if front.server.settings.tls.is_some() { "https" } else { "http" };
            // The guard has checked it.
            let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
            match host.or(request.uri().authority().map(Authority::as_str)) {
                Some(host) => format!("{scheme}://{host}"),
                None => return StatusCode::BAD_REQUEST.into_response(),
            }
        }
    };
    health::json(StatusCode::OK, port::configuration(&base))
}

async fn ready(State(front): State<Arc<Front>>) -> Response {
    health::ready(&front.server, front.auth.as_deref())
}

async fn metrics(State(front): State<Arc<Front>>, request: Request) -> Response {
    let challenge = match (front.server.settings.metrics, &front.auth) {
        (MetricsAccess::Off, _) => return StatusCode::NOT_FOUND.into_response(),
        (MetricsAccess::Authenticated, Some(auth)) => auth.authenticate(&asked(&request)).err(),
        (MetricsAccess::Authenticated, None) | (MetricsAccess::Anyone, _) => None,
    };
    match challenge {
        Some(challenge) => refuse(&front, challenge),
        None => {
            let key_sets = front.auth.as_ref().map(|auth| auth.key_sets()).unwrap_or_default();
            metrics::answer(&front.server, front.endpoint.open().await, &key_sets)
        }
    }
}

async fn metadata(State(front): State<Arc<Front>>, uri: Uri) -> Response {
    match front.auth.as_ref().and_then(|auth| auth.metadata()) {
        Some(metadata) if metadata.is_at(uri.path()) => health::json(StatusCode::OK, metadata),
        Some(_) => (StatusCode::NOT_FOUND, "no resource of this server has it\n").into_response(),
        None => (StatusCode::NOT_FOUND, "no authorization server is configured\n").into_response(),
    }
}
