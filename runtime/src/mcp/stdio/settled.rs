//! Answers that wait for their records: the one place between all handlers and standard output. Over
//! HTTP they wait in `http::settled`.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{ClientRequest, ProtocolVersion};
use rmcp::service::{NotificationContext, RequestContext, Service as RmcpService, ServiceRole};
use rmcp::{ErrorData, RoleServer};

use crate::mcp::direct::stdio::Lifecycle;
use crate::mcp::handler::Handler;
use crate::server::Server;

/// A handler whose answers are returned when the audit keeps their records.
pub(super) struct Settled {
    handler: Handler,
    server: Arc<Server>,
    lifecycle: Arc<Lifecycle>,
}

impl Settled {
    pub(super) fn new(handler: Handler, server: Arc<Server>, lifecycle: Arc<Lifecycle>) -> Self {
        Self { handler, server, lifecycle }
    }
}

impl RmcpService<RoleServer> for Settled {
    async fn handle_request(
        &self,
        request: <RoleServer as ServiceRole>::PeerReq,
        context: RequestContext<RoleServer>,
    ) -> Result<<RoleServer as ServiceRole>::Resp, ErrorData> {
        let lifecycle = &self.lifecycle;
        let note: fn(&Lifecycle) = match &request {
            ClientRequest::InitializeRequest(_) => Lifecycle::initialized,
            // It precedes the choice of a lifecycle.
            ClientRequest::DiscoverRequest(_) => |_| {},
            _ => Lifecycle::answered,
        };
        let answer = self.handler.handle_request(request, context).await;
        if answer.is_ok() {
            note(lifecycle);
        }
        self.server.audit.settled().await;
        answer
    }

    async fn handle_notification(
        &self,
        notification: <RoleServer as ServiceRole>::PeerNot,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.handler.handle_notification(notification, context).await
    }

    fn get_info(&self) -> <RoleServer as ServiceRole>::Info {
        RmcpService::get_info(&self.handler)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        RmcpService::supported_protocol_versions(&self.handler)
    }
}
