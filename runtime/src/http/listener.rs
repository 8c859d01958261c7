//! Connections: their number, their time limits, and how they end.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::tls::Acceptor;
use crate::config::Limits;

/// The pause after a failed `accept`, such as when descriptors run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// The time for requests in flight before open streams are ended as well.
const STREAMS_LINGER: Duration = Duration::from_millis(500);

/// A bound address, with the limits and routes of its connections.
pub(super) struct Listener {
    pub(super) socket: TcpListener,
    pub(super) acceptor: Option<Acceptor>,
    pub(super) limits: Limits,
}

impl Listener {
    /// Serves until `closing`; then waits for requests in flight, and ends `streams`.
    pub(super) async fn serve(
        self,
        routes: Router,
        closing: &CancellationToken,
        streams: &CancellationToken,
    ) {
        let connections = self.limits.connections_max.get();
        let connections = usize::try_from(connections).unwrap_or(Semaphore::MAX_PERMITS);
        let connections = Arc::new(Semaphore::new(connections.min(Semaphore::MAX_PERMITS)));
        let graceful = GracefulShutdown::new();
        let connection = Connection::new(&self.limits, routes);
        loop {
            let Some((stream, permit)) = self.next(&connections, closing).await else { break };
            let (connection, acceptor) = (connection.clone(), self.acceptor.clone());
            let watcher = graceful.watcher();
            tokio::spawn(async move {
                match acceptor {
                    None => connection.serve(stream, watcher).await,
                    Some(acceptor) => {
                        match timeout(connection.head_timeout, acceptor.accept(stream)).await {
                            Ok(Ok(stream)) => connection.serve(stream, watcher).await,
                            Ok(Err(error)) => tracing::debug!("no TLS connection: {error}"),
                            Err(_) => tracing::debug!("a TLS handshake took too long"),
                        }
                    }
                }
                drop(permit);
            });
        }
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

    /// Returns the next connection; `None` after `closing`.
    async fn next(
        &self,
        connections: &Arc<Semaphore>,
        closing: &CancellationToken,
    ) -> Option<(TcpStream, OwnedSemaphorePermit)> {
        let next = async {
            // Connections over the limit wait in the kernel's queue.
            let permit = connections.clone().acquire_owned().await.ok()?;
            loop {
                match self.socket.accept().await {
                    Ok((stream, _)) => {
                        // Answers are small and complete: waiting to fill a segment only delays
                        // them.
                        _ = stream.set_nodelay(true);
                        return Some((stream, permit));
                    }
                    Err(error) => {
                        tracing::warn!("cannot accept a connection: {error}");
                        sleep(ACCEPT_PAUSE).await;
                    }
                }
            }
        };
        tokio::select! {
            next = next => next,
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
}

impl Connection {
    fn new(limits: &Limits, routes: Router) -> Self {
        let head_timeout = Duration::from_secs(limits.head_s_max.get().into());
        let head_bytes_max = usize::try_from(limits.head_bytes_max.get()).unwrap_or(usize::MAX);
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(head_timeout)
            .max_buf_size(head_bytes_max);
        Self { http, routes, head_timeout }
    }

    async fn serve<S>(&self, stream: S, watcher: Watcher)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let routes = TowerToHyperService::new(self.routes.clone());
        let connection = self.http.serve_connection(TokioIo::new(stream), routes);
        if let Err(error) = watcher.watch(connection).await {
            tracing::debug!("a connection broke: {error}");
        }
    }
}
