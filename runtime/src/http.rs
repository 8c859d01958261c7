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
mod tls;
mod turns;
mod write_limit;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, Uri, header};
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
use crate::server::Server;
use crate::settings::Settings;
use crate::settings::config::MetricsAccess;
use crate::trust::loaded::REVOKED;

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
            if request.uri().path() == MCP_PATH {
                front.server.refuse_request(&claimed(&front, &asked(&request)), rejected.rule());
            }
            return (StatusCode::FORBIDDEN, format!("{rejected}\n")).into_response();
        }
    };
    let Some(from) = from else { return next.run(request).await };
    match cors::preflight(&request) {
        Some(preflight) => cors::allow(preflight, from),
        None => cors::allow(next.run(request).await, from),
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
