//! Who asks, by which request, and the audit record of what they got.

use std::collections::BTreeMap;
use std::sync::Arc;

use relay_engine::audit_record::{Action, AuditRecord, OutputHash};

use crate::clock;
use crate::load::Loaded;
use crate::principal::Principal;
use crate::server::Server;

/// What a caller names is shown, in records and answers, up to this many characters.
const SHOWN_CHARS_MAX: usize = 500;

/// Who asks, and by which request.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) principal: Arc<Principal>,
    /// The JSON-RPC id.
    pub(crate) request_id: String,
    /// The W3C trace context.
    pub(crate) traceparent: Option<String>,
}

/// What was asked and what came of it, as far as an audit record tells.
#[derive(Debug)]
pub(crate) struct Outcome<'a> {
    /// A tool's name, `prompt:NAME` or `resource:URI`.
    pub(crate) tool: String,
    /// The tier of what was asked; reads are 0.
    pub(crate) tier: u8,
    pub(crate) args: BTreeMap<&'a str, String>,
    pub(crate) output: OutputHash,
    /// The place of what was served, or why it was refused.
    pub(crate) rule: String,
    pub(crate) action: Action,
    /// The names of the prompts that a briefing sent in full.
    pub(crate) prompts: Vec<String>,
}

impl<'a> Outcome<'a> {
    /// Returns the outcome of a prompt or a resource: it is read, and nothing else happens.
    pub(crate) fn of_read(
        tool: String,
        args: BTreeMap<&'a str, String>,
        output: OutputHash,
        rule: String,
        action: Action,
    ) -> Self {
        Self { tool, tier: 0, args, output, rule, action, prompts: Vec::new() }
    }
}

impl Caller {
    /// Appends the audit record of one answer.
    pub(crate) fn record(&self, server: &Server, loaded: &Loaded, outcome: Outcome<'_>) {
        if !server.audit.is_on() {
            return;
        }
        let Outcome { tool, tier, args, output, rule, action, prompts } = outcome;
        let (output_sha256, output_len) = output.finish();
        server.audit.record(&AuditRecord {
            ts: clock::timestamp(),
            tool,
            tier,
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
            prompts,
            traceparent: self.traceparent.as_deref(),
        });
    }
}

/// Returns what a caller typed, cut to what is shown of it.
pub(crate) fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).collect()
}
