//! Answers that wait for their records: the one place between all handlers and standard output. Over
//! HTTP they wait in `http::settled`.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::ProtocolVersion;
use rmcp::service::{NotificationContext, RequestContext, Service as RmcpService, ServiceRole};
use rmcp::{ErrorData, RoleServer};

use crate::mcp::handler::Handler;
use crate::server::Server;

/// A handler whose answers are returned when the audit keeps their records.
pub(super) struct Settled {
    handler: Handler,
    server: Arc<Server>,
}

impl Settled {
    pub(super) fn new(handler: Handler, server: Arc<Server>) -> Self {
        Self { handler, server }
    }
}

impl RmcpService<RoleServer> for Settled {
    async fn handle_request(
        &self,
        request: <RoleServer as ServiceRole>::PeerReq,
        context: RequestContext<RoleServer>,
    ) -> Result<<RoleServer as ServiceRole>::Resp, ErrorData> {
        let answer = self.handler.handle_request(request, context).await;
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
