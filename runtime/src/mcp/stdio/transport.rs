//! Messages of rmcp as lines: the rules and the times of reading.
//!
//! A line is one message, and an empty one is skipped. A faulty message gets an error. Errors
//! themselves stay unanswered, so a client that echoes its input gets each one once.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use relay_engine::system_error::reason;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, GetExtensions as _, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::error::Category;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::lines::{Line, Lines};
use super::outlet::Outlet;
use super::requests::{Request, Requests};
use crate::mcp::body::without_mark;
use crate::mcp::direct::stdio::{self, Direct};
use crate::mcp::{bad_params, edge};
use crate::settings::config::Limits;

/// The most requests in flight besides calls of tools, which have a limit of their own.
const READS_MAX: usize = 64;

/// Standard input and output as a transport of rmcp.
pub(super) struct StdioTransport<R, W> {
    lines: Lines<R>,
    line_bytes_max: usize,
    outlet: Arc<Outlet<W>>,
    requests: Requests,
    direct: Direct,
    /// Whether a request has been read.
    has_begun: bool,
    /// Cancelled after the end of input, so that open streams of changes end too.
    ended: CancellationToken,
    drain: Duration,
    /// The time at which requests still in flight after the end of input are ended.
    drained_by: Option<Instant>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin + Send + 'static> StdioTransport<R, W> {
    pub(super) fn new(
        (reader, writer): (R, W),
        direct: Direct,
        limits: &Limits,
        ended: CancellationToken,
    ) -> Self {
        let line_bytes_max = limits.line_bytes_max.get();
        let drain = Duration::from_secs(limits.drain_s_max.get().into());
        Self {
            lines: Lines::new(reader, line_bytes_max),
            line_bytes_max,
            outlet: Outlet::new(writer, drain),
            requests: Requests::new(limits.principal_calls_max.get().saturating_add(READS_MAX)),
            direct,
            has_begun: false,
            ended,
            drain,
            drained_by: None,
        }
    }

    /// Answers a message with an error in place of rmcp.
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

    /// Returns the message of a line, if it is one that rmcp handles. Others are answered.
    fn message(&mut self, line: &[u8]) -> Option<ClientJsonRpcMessage> {
        let line = without_mark(line);
        if line.trim_ascii().is_empty() {
            return None;
        }
        if let Some(request) = self.direct.request(line) {
            self.answer(request);
            return None;
        }
        let message = match serde_json::from_slice(line) {
            Ok(message) => message,
            Err(error) if matches!(error.classify(), Category::Syntax | Category::Eof) => {
                tracing::debug!("a line is not JSON: {error}");
                self.reject(ErrorData::parse_error("the line is not JSON", None), None);
                return None;
            }
            Err(error) => {
                tracing::debug!("a line is not a message: {error}");
                if !is_notification(line) {
                    let reason = match edge::is_batch(line) {
                        true => edge::BATCH,
                        false => "the line is not a JSON-RPC message",
                    };
                    self.reject(ErrorData::invalid_request(reason, None), None);
                }
                return None;
            }
        };
        self.accepted(message)
    }

    /// Returns `message`, unless it precedes the first request or repeats the id of another one.
    fn accepted(&mut self, mut message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        let ClientJsonRpcMessage::Request(request) = &mut message else {
            if !self.has_begun {
                tracing::debug!("skipped a message before the first request");
                return None;
            }
            return Some(message);
        };
        // rmcp takes it for a request of the stateless protocol.
        if let ClientRequest::CustomRequest(custom) = &request.request
            && custom.method == "initialize"
            && let Some(error) =
                bad_params::wrong_initialize(&custom.params.clone().unwrap_or_default())
        {
            self.reject(error, Some(request.id.clone()));
            return None;
        }
        let counts = !matches!(request.request, ClientRequest::SubscriptionsListenRequest(_));
        let in_flight = self.begin(&request.id, counts)?;
        self.has_begun = true;
        request.request.extensions_mut().insert(in_flight);
        Some(message)
    }

    /// Begins a request, unless it repeats the id of another one.
    fn begin(&self, id: &RequestId, counts: bool) -> Option<Request> {
        let in_flight = self.requests.begin(id, counts);
        if in_flight.is_none() {
            let reason = format!(
                "a request with the id {id} is in flight: give each request an id of its own"
            );
            // With its id, this would be the answer to the other request.
            self.reject(ErrorData::invalid_request(reason, None), None);
        }
        in_flight
    }

    /// Answers a request in place of rmcp, when the audit keeps its record.
    fn answer(&self, request: stdio::Request) {
        let Some(in_flight) = self.begin(&request.id, true) else { return };
        match self.direct.answer(request) {
            Ok(mut line) => {
                line.push(b'\n');
                let (pending, settled) = (self.outlet.pend(line), self.direct.settled());
                // `receive` must not wait in the middle, since rmcp drops its future.
                tokio::spawn(async move {
                    settled.await;
                    if let Err(error) = pending.write().await {
                        tracing::debug!("an answer was not written: {}", reason(&error));
                    }
                    // Until then the end of input waits for it.
                    drop(in_flight);
                });
            }
            Err(error) => tracing::error!("an answer is not JSON: {error}"),
        }
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
                    tracing::error!("cannot read standard input: {}", reason(&error));
                    break;
                }
            }
        }
        // rmcp drops this future at each answer, and the next one gets here again.
        let until = *self.drained_by.get_or_insert_with(|| Instant::now() + self.drain);
        if timeout_at(until, self.requests.are_answered()).await.is_err() {
            tracing::warn!("some requests did not end in time after the end of input");
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

/// Returns whether a message of an unknown form is a notification, which stays unanswered.
fn is_notification(line: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(line).is_ok_and(|message| {
        message.get("id").is_none() && message.get("method").is_some_and(|it| it.is_string())
    })
}
