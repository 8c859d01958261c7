//! Connections: their time limits, and how they end.

use std::net::IpAddr;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use relay_engine::system_error::reason;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::admission::{Admission, Admitted, Purpose};
use super::tls::Acceptor;
use super::turns::InTurn;
use super::write_limit::WriteLimited;
use crate::server::Server;
use crate::settings::config::Limits;

/// The pause after a failed `accept`, such as when descriptors run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// The time for requests in flight before open streams end as well.
const STREAMS_LINGER: Duration = Duration::from_millis(500);
/// The time to wait for a request on a connection for health.
const HEALTH_HEAD_TIMEOUT: Duration = Duration::from_secs(2);

/// A bound address, with the limits and routes of its connections.
pub(super) struct Listener {
    pub(super) socket: TcpListener,
    pub(super) acceptor: Option<Acceptor>,
    pub(super) limits: Limits,
}

/// The routers for each purpose of a connection.
pub(super) struct Routes {
    /// The paths of ordinary connections.
    pub(super) all: Router,
    /// The paths of connections over the limits.
    pub(super) health: Router,
}

impl Listener {
    /// Serves until `server` closes; then waits for requests in flight, and ends `streams`.
    pub(super) async fn serve(self, routes: Routes, server: &Server, streams: &CancellationToken) {
        let admission = Admission::new(&self.limits);
        let graceful = GracefulShutdown::new();
        let Routes { all, health } = routes;
        let ordinary = Connection::new(&self.limits, all);
        let for_health = Connection::for_health(&self.limits, health);
        while let Some((stream, address)) = self.next(&server.closing).await {
            let Some(admitted) = admission.admit(address) else {
                server.metrics.closed_connections.increment();
                tracing::debug!("closed a connection from {address}: there are too many");
                continue;
            };
            let connection = match admitted.purpose {
                Purpose::Ordinary => ordinary.clone(),
                Purpose::Health => for_health.clone(),
            };
            let acceptor = self.acceptor.clone();
            let watcher = graceful.watcher();
            let counted = server.metrics.connections.count();
            tokio::spawn(async move {
                let served = async {
                    match acceptor {
                        None => connection.serve(stream, watcher, &admitted).await,
                        Some(acceptor) => {
                            match timeout(connection.head_timeout, acceptor.accept(stream)).await {
                                Ok(Ok(stream)) => {
                                    connection.serve(stream, watcher, &admitted).await
                                }
                                Ok(Err(error)) => tracing::debug!("no TLS connection: {error}"),
                                Err(_) => tracing::debug!("a TLS handshake took too long"),
                            }
                        }
                    }
                };
                tokio::select! {
                    () = served => {}
                    () = admitted.activity.replaced.cancelled() => {
                        tracing::debug!("closed a connection from {address} to make room");
                    }
                }
                drop((admitted, counted));
            });
        }
        // New connections are refused while requests in flight end.
        drop(self.socket);
        let ended = async {
            let ended = graceful.shutdown();
            tokio::pin!(ended);
            if timeout(STREAMS_LINGER, &mut ended).await.is_err() {
                streams.cancel();
                ended.await;
            }
        };
        let drain = Duration::from_secs(self.limits.drain_s_max.get().into());
        if timeout(drain, ended).await.is_err() {
            tracing::warn!("some requests did not end in time and were aborted");
        }
    }

    /// Returns the next connection and its address; `None` after `closing`.
    async fn next(&self, closing: &CancellationToken) -> Option<(TcpStream, IpAddr)> {
        let next = async {
            loop {
                match self.socket.accept().await {
                    Ok((stream, address)) => {
                        // Answers are small and complete: waiting to fill a segment only delays
                        // them.
                        _ = stream.set_nodelay(true);
                        return (stream, address.ip());
                    }
                    Err(error) => {
                        tracing::warn!("cannot accept a connection: {}", reason(&error));
                        sleep(ACCEPT_PAUSE).await;
                    }
                }
            }
        };
        tokio::select! {
            next = next => Some(next),
            () = closing.cancelled() => None,
        }
    }
}

/// How to serve one connection.
#[derive(Clone)]
struct Connection {
    http: http1::Builder,
    routes: Router,
    head_timeout: Duration,
    write_timeout: Duration,
}

impl Connection {
    fn new(limits: &Limits, routes: Router) -> Self {
        let head_timeout = Duration::from_secs(limits.head_s_max.get().into());
        let head_bytes_max = usize::try_from(limits.head_bytes_max.get()).unwrap_or(usize::MAX);
        let write_timeout = Duration::from_secs(limits.write_s_max.get().into());
        let mut http = http1::Builder::new();
        // Under the first limit alone, a head that arrives at once may be twice as long.
        http.timer(TokioTimer::new())
            .header_read_timeout(head_timeout)
            .max_buf_size(head_bytes_max)
            .max_header_size(head_bytes_max);
        Self { http, routes, head_timeout, write_timeout }
    }

    /// Serves one request of a connection over the limits, which must come soon.
    fn for_health(limits: &Limits, routes: Router) -> Self {
        let mut connection = Self::new(limits, routes);
        connection.head_timeout = connection.head_timeout.min(HEALTH_HEAD_TIMEOUT);
        connection.http.header_read_timeout(connection.head_timeout).keep_alive(false);
        connection
    }

    async fn serve<S>(&self, stream: S, watcher: Watcher, admitted: &Admitted)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Admitted { turns, activity, .. } = admitted;
        let routes = InTurn::new(self.routes.clone(), turns.clone(), activity.clone());
        let stream = TokioIo::new(WriteLimited::new(stream, self.write_timeout));
        let connection = self.http.serve_connection(stream, routes);
        if let Err(error) = watcher.watch(connection).await {
            tracing::debug!("a connection broke: {error}");
        }
    }
}
