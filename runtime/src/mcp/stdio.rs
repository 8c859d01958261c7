//! MCP on standard input and output, for the one client that started the process.

mod lines;
mod outlet;
mod requests;
mod settled;
mod transport;

use std::io;
use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::io::stdio_pipes;

use self::settled::Settled;
use self::transport::StdioTransport;
use super::direct::stdio::{Direct, Lifecycle};
use super::handler::Handler;
use super::service::Service;
use crate::server::Server;

/// Serves until standard input ends, the client closes standard output, or the server is stopped.
pub(crate) async fn serve_stdio(server: Arc<Server>) -> io::Result<()> {
    let service = Service::new(server.clone());
    service.follow(|_| {})?;
    let (closing, principal) = (server.closing.clone(), server.settings.principal.clone());
    let (reader, writer) = stdio_pipes();
    let left = closing.clone();
    tokio::spawn(async move {
        outlet::until_closed().await;
        tracing::info!("stopping: the client closed standard output");
        left.cancel();
    });
    let lifecycle = Arc::<Lifecycle>::default();
    let direct = Direct::new(service.clone(), lifecycle.clone());
    let limits = &server.settings.limits;
    let transport = StdioTransport::new((reader, writer), direct, limits, closing.clone());
    let settled = Settled::new(Handler::new(service, principal), server.clone(), lifecycle);
    match settled.serve_with_ct(transport, closing).await {
        Ok(running) => _ = running.waiting().await,
        // Some clients start a server only to check whether it starts.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {}
        Err(ServerInitializeError::TransportError { error, .. }) => {
            tracing::debug!("the client left before its first request was answered: {error}");
        }
        Err(error) => return Err(io::Error::other(error)),
    }
    Ok(())
}
