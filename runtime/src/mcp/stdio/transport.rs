//! Messages of rmcp as lines: the rules of what is read, and when.
//!
//! A line is one message. A line that is not JSON is skipped, since an answer to it could be echoed
//! as another one. Everything else that cannot be served gets an error.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, GetExtensions as _, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::error::Category;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::lines::{Line, Lines};
use super::outlet::Outlet;
use super::requests::Requests;
use crate::settings::config::Limits;

/// The most requests in flight besides calls of tools, which have a limit of their own.
const READS_MAX: usize = 64;
/// A mark that some editors and shells put before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Standard input and output as a transport of rmcp.
pub(super) struct StdioTransport<R, W> {
    lines: Lines<R>,
    line_bytes_max: usize,
    outlet: Arc<Outlet<W>>,
    requests: Requests,
    /// Whether a request has been read.
    has_begun: bool,
    /// Cancelled at the end of input, so that open streams of changes end too.
    ended: CancellationToken,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin + Send + 'static> StdioTransport<R, W> {
    pub(super) fn new(reader: R, writer: W, limits: &Limits, ended: CancellationToken) -> Self {
        let line_bytes_max = limits.line_bytes_max.get();
        let drain = Duration::from_secs(limits.drain_s_max.get().into());
        Self {
            lines: Lines::new(reader, line_bytes_max),
            line_bytes_max,
            outlet: Outlet::new(writer, drain),
            requests: Requests::new(limits.principal_calls_max.get().saturating_add(READS_MAX)),
            has_begun: false,
            ended,
        }
    }

    /// Answers a message that does not reach rmcp.
    fn reject(&self, error: ErrorData, id: Option<RequestId>) {
        let message = ServerJsonRpcMessage::error(error, id);
        match line(&message) {
            Ok(line) => {
                let pending = self.outlet.pend(line);
                // `receive` must not wait in the middle, since rmcp drops its future.
                tokio::spawn(pending.write());
            }
            Err(error) => tracing::error!("an error is not JSON: {error}"),
        }
    }

    /// Returns the message of a line, if it is one that rmcp handles.
    fn message(&mut self, line: &[u8]) -> Option<ClientJsonRpcMessage> {
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        if line.trim_ascii().is_empty() {
            return None;
        }
        let message = match serde_json::from_slice(line) {
            Ok(message) => message,
            Err(error) if matches!(error.classify(), Category::Syntax | Category::Eof) => {
                tracing::debug!("skipped a line that is not JSON: {error}");
                return None;
            }
            Err(error) => {
                tracing::debug!("a line is not a message: {error}");
                if !is_notification(line) {
                    let reason = "the line is not a JSON-RPC message";
                    self.reject(ErrorData::invalid_request(reason, None), None);
                }
                return None;
            }
        };
        self.accepted(message)
    }

    /// Returns `message`, unless it comes before the first request or has the id of another one.
    fn accepted(&mut self, mut message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        let ClientJsonRpcMessage::Request(request) = &mut message else {
            if !self.has_begun {
                tracing::debug!("skipped a message before the first request");
                return None;
            }
            return Some(message);
        };
        let counts = !matches!(request.request, ClientRequest::SubscriptionsListenRequest(_));
        let Some(in_flight) = self.requests.begin(&request.id, counts) else {
            let reason = format!(
                "a request with the id {} is in flight: give each request an id of its own",
                request.id
            );
            // With its id, this would be the answer to the other request.
            self.reject(ErrorData::invalid_request(reason, None), None);
            return None;
        };
        self.has_begun = true;
        request.request.extensions_mut().insert(in_flight);
        Some(message)
    }
}

impl<R, W> Transport<RoleServer> for StdioTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let pending = line(&message).map(|line| self.outlet.pend(line));
        async move { pending?.write().await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            self.requests.have_room().await;
            if !self.outlet.has_room().await {
                return None;
            }
            match self.lines.next().await {
                Ok(Line::Whole(line)) => {
                    if let Some(message) = self.message(&line) {
                        return Some(message);
                    }
                }
                Ok(Line::TooLong(id)) => {
                    let reason = format!(
                        "the line is over the limit of {} bytes (limits.line-bytes-max): send less",
                        self.line_bytes_max
                    );
                    tracing::warn!("skipped a line of standard input: {reason}");
                    self.reject(ErrorData::invalid_request(reason, None), id);
                }
                Ok(Line::End) => break,
                Err(error) => {
                    tracing::error!("cannot read standard input: {error}");
                    break;
                }
            }
        }
        self.ended.cancel();
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.outlet.closed.cancel();
        Ok(())
    }
}

fn line(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// Returns whether a message of an unknown form is a notification, to which there is no answer.
fn is_notification(line: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(line).is_ok_and(|message| {
        message.get("id").is_none() && message.get("method").is_some_and(|it| it.is_string())
    })
}
