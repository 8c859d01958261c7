//! A request's context -> who asks, and the audit record of what they got.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::request::Parts;
use relay_engine::audit_record::{Action, AuditRecord, OutputHash};
use rmcp::model::ProtocolVersion;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use crate::clock;
use crate::load::Loaded;
use crate::principal::Principal;
use crate::server::Server;

/// What a caller names is shown, in records and answers, up to this many characters.
pub(super) const SHOWN_CHARS_MAX: usize = 500;

/// Who asks, and by which request.
pub(super) struct Caller {
    principal: Arc<Principal>,
    request_id: String,
    traceparent: Option<String>,
}

/// What was asked and what came of it, as far as an audit record tells.
pub(super) struct Outcome<'a> {
    /// `prompt:NAME` or `resource:URI`.
    pub(super) tool: String,
    pub(super) args: BTreeMap<&'a str, String>,
    pub(super) output: OutputHash,
    /// The place of what was served, or why it was refused.
    pub(super) rule: String,
    pub(super) action: Action,
}

impl Caller {
    /// Reads who asks from the request that carried the message, or from the local configuration
    /// where there is none (stdio).
    pub(super) fn of(
        server: &Server,
        context: &RequestContext<RoleServer>,
    ) -> Result<Self, ErrorData> {
        let principal = match context.extensions.get::<Parts>() {
            None => server.settings.principal.clone(),
            // The layer before this one lets nobody through without one.
            Some(parts) => {
                parts.extensions.get::<Arc<Principal>>().cloned().ok_or_else(|| {
                    ErrorData::internal_error("the request has no principal", None)
                })?
            }
        };
        Ok(Self {
            principal,
            request_id: context.id.to_string(),
            traceparent: context.meta.get_traceparent().map(shown),
        })
    }

    /// Appends the audit record of one answer.
    pub(super) fn record(&self, server: &Server, loaded: &Loaded, outcome: Outcome<'_>) {
        if !server.audit.is_on() {
            return;
        }
        let Outcome { tool, args, output, rule, action } = outcome;
        let (output_sha256, output_len) = output.finish();
        server.audit.record(&AuditRecord {
            ts: clock::timestamp(),
            tool,
            // Prompts and resources are read, and nothing else happens.
            tier: 0,
            denied: action == Action::Refused,
            args,
            output_sha256,
            output_len,
            exit_code: None,
            request_id: self.request_id.clone(),
            principal: &self.principal.id,
            tenant: self.principal.tenant.as_deref(),
            bundle: loaded.bundle.digest().to_string(),
            rule,
            action,
            traceparent: self.traceparent.as_deref(),
        });
    }
}

/// Returns whether a request is of the era without sessions (2026-07-28 and later).
pub(super) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Returns what a caller typed, cut to what is shown of it.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).collect()
}
