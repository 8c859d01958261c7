//! Requests on standard input: of a session, and of the stateless protocol.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::ProtocolVersion;

use super::answer::answer;
use super::usual::read;
use crate::mcp::service::Service;

pub(in crate::mcp) use super::usual::Request;

/// The part of a connection's lifecycle that decides which requests are answered here. rmcp chooses the
/// lifecycle by the first request that its handler answers.
#[derive(Debug, Default)]
pub(in crate::mcp) struct Lifecycle {
    /// Whether rmcp takes requests of the stateless protocol by now.
    takes_stateless: AtomicBool,
    /// Whether an `initialize` was answered.
    is_session: AtomicBool,
}

impl Lifecycle {
    /// Notes that an `initialize` was answered.
    pub(in crate::mcp) fn initialized(&self) {
        self.is_session.store(true, Ordering::Relaxed);
        self.takes_stateless.store(true, Ordering::Relaxed);
    }

    /// Notes that another request than `initialize` and `server/discover` was answered.
    pub(in crate::mcp) fn answered(&self) {
        self.takes_stateless.store(true, Ordering::Relaxed);
    }
}

/// The answers without rmcp to the one client.
pub(in crate::mcp) struct Direct {
    service: Arc<Service>,
    lifecycle: Arc<Lifecycle>,
}

impl Direct {
    pub(in crate::mcp) fn new(service: Arc<Service>, lifecycle: Arc<Lifecycle>) -> Self {
        Self { service, lifecycle }
    }

    /// Returns the request of a line; `None` if it is rmcp's, or none at all.
    pub(in crate::mcp) fn request(&self, line: &[u8]) -> Option<Request> {
        let Lifecycle { takes_stateless, is_session } = &*self.lifecycle;
        if !takes_stateless.load(Ordering::Relaxed) {
            return None;
        }
        let request = read(line)?;
        let is_usual = match &request.meta {
            None => is_session.load(Ordering::Relaxed),
            Some(meta) => {
                meta.protocol_version() == Some(ProtocolVersion::V_2026_07_28)
                    && meta.client_capabilities().is_some()
            }
        };
        is_usual.then_some(request)
    }

    /// Returns the answer to a request, as JSON.
    pub(in crate::mcp) fn answer(&self, request: Request) -> serde_json::Result<Vec<u8>> {
        answer(&self.service, &self.service.server.settings.principal, request)
    }

    /// Waits until the audit keeps the records of the answers so far.
    pub(in crate::mcp) fn settled(&self) -> impl Future<Output = ()> + Send + 'static {
        let server = self.service.server.clone();
        async move { server.audit.settled().await }
    }
}
