//! MCP on standard input and output, for the one client that started the process.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::{StdioReader, stdio_pipes};
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

use super::handler::Handler;
use super::service::Service;
use crate::server::Server;

/// Serves until standard input ends or the server is stopped.
pub(crate) async fn serve_stdio(server: Arc<Server>) -> io::Result<()> {
    let service = Service::new(server.clone());
    service.follow(|_| {})?;
    let closing = server.closing.clone();
    let (reader, writer) = stdio_pipes();
    let reader = Input { reader, ended: closing.clone() };
    let transport = AsyncRwTransport::new_server(reader, writer)
        .with_max_line_length(server.settings.limits.line_bytes_max.get());
    match Handler::new(service).serve_with_ct(transport, closing).await {
        Ok(running) => _ = running.waiting().await,
        // Some clients start a server only to check whether it starts.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {}
        Err(error) => return Err(io::Error::other(error)),
    }
    Ok(())
}

/// Standard input. When it ends, open streams of changes are ended too.
struct Input {
    reader: StdioReader,
    ended: CancellationToken,
}

impl AsyncRead for Input {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.reader).poll_read(context, buffer);
        if matches!(read, Poll::Ready(Ok(()))) && buffer.filled().len() == before {
            this.ended.cancel();
        }
        read
    }
}
