//! Tools that talk to the client before they answer: progress, log messages, requests of the
//! server's own.
//!
//! Requests to the client exist only in sessions (2025-11-25 and older); the modern protocol has
//! `rounds` instead.

#![expect(deprecated, reason = "the suite still asks for logging and sampling")]

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
    CreateMessageRequestParams, ElicitRequestParams, LoggingLevel, LoggingMessageNotificationParam,
    ProgressNotificationParam, ProtocolVersion, SamplingMessage,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

/// The suite wants to see messages arrive one by one.
const PAUSE: Duration = Duration::from_millis(50);

/// Returns an answer of one text.
pub(super) fn text(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

pub(super) async fn progress(
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    for progress in [0.0, 50.0, 100.0] {
        if progress > 0.0 {
            tokio::time::sleep(PAUSE).await;
        }
        if let Some(token) = context.meta.get_progress_token() {
            let params = ProgressNotificationParam::new(token, progress).with_total(100.0);
            // A failure is ignored: a client that disconnected needs no progress.
            _ = context.peer.notify_progress(params).await;
        }
    }
    Ok(text("progress was reported"))
}

pub(super) async fn log(
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let wanted = !is_modern(context)
        || matches!(context.meta.log_level(), Some(LoggingLevel::Debug | LoggingLevel::Info));
    for message in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        if wanted {
            let params = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(message));
            _ = context.peer.notify_logging_message(params).await;
            tokio::time::sleep(PAUSE).await;
        }
    }
    Ok(text("log messages were sent where wanted"))
}

pub(super) async fn sample(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    if is_modern(context) {
        return Ok(needs_session());
    }
    let prompt = argument(request, "prompt");
    let params = CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 100);
    Ok(match context.peer.create_message(params).await {
        Ok(result) => text(format!("LLM response: {}", json!(result))),
        Err(error) => failed(error.to_string()),
    })
}

pub(super) async fn elicit(
    mut params: ElicitRequestParams,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    if is_modern(context) {
        return Ok(needs_session());
    }
    if let ElicitRequestParams::FormElicitationParams { message, .. } = &mut params
        && message.is_empty()
    {
        *message = argument(request, "message");
    }
    Ok(match context.peer.create_elicitation(params).await {
        Ok(result) => text(format!("Elicitation completed: {}", json!(result))),
        Err(error) => failed(error.to_string()),
    })
}

fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

fn needs_session() -> CallToolResponse {
    failed("requests to the client exist only in sessions, up to protocol 2025-11-25")
}

fn failed(message: impl Into<String>) -> CallToolResponse {
    CallToolResult::error(vec![ContentBlock::text(message)]).into()
}

fn argument(request: &CallToolRequestParams, name: &str) -> String {
    let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name));
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}
