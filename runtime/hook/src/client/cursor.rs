//! Cursor. Its hooks that may be closed take an empty answer for a failure, so no objection is an
//! explicit allow; and only the events before a shell command and before an MCP call ask a person.

use std::borrow::Cow;

use relay_bundle::Selector;
use serde_json::{Map, Value, json};

use super::Client;
use crate::answer::{Answer, Output};
use crate::event::{Event, EventError, Moment, ToolCall, object, required, text};
use crate::tool::{Does, Tool};

pub(super) const CLIENT: Client = Client {
    name: "cursor",
    title: "Cursor",
    version: "documentation of 2026-10-07",
    tools: TOOLS,
    context_chars_max: 8_192,
    fits: |payload| payload.contains_key("cursor_version"),
    read,
    asks,
    answer,
    refusal,
    server_tools: |_| Vec::new(),
};

const SHELL: &str = "beforeShellExecution";
const MCP: &str = "beforeMCPExecution";
const BEFORE_TOOL: &str = "preToolUse";

const TOOLS: &[Tool] = &[
    Tool { name: "Shell", does: Does::Runs("command", Some("working_directory")) },
    Tool {
        name: "Read",
        does: Does::Touches(Selector::Reads, &["file_path", "path", "target_file"]),
    },
    Tool {
        name: "Write",
        does: Does::Touches(Selector::Writes, &["file_path", "path", "target_file"]),
    },
    Tool {
        name: "Delete",
        does: Does::Touches(Selector::Removes, &["file_path", "path", "target_file"]),
    },
    Tool { name: "Grep", does: Does::Searches(&["file_path", "path"]) },
    Tool { name: "Task", does: Does::Nothing },
];

fn read(payload: &Map<String, Value>) -> Result<Event<'_>, EventError> {
    let name = required(payload, "hook_event_name")?;
    let call = |name, input, server| ToolCall { name, input, server };
    let only = |names: &[&str]| {
        let members = names
            .iter()
            .filter_map(|name| payload.get(*name).map(|value| ((*name).to_owned(), value.clone())));
        Cow::Owned(members.collect::<Map<String, Value>>())
    };
    let moment = match name {
        BEFORE_TOOL | "postToolUse" => {
            let tool = required(payload, "tool_name")?;
            let server = tool.strip_prefix("MCP:").map(|tool| mcp(payload, tool)).transpose()?;
            let call = call(tool, Cow::Borrowed(object(payload, "tool_input")?), server);
            if name == BEFORE_TOOL { Moment::BeforeTool(call) } else { Moment::AfterTool(call) }
        }
        SHELL => {
            required(payload, "command")?;
            Moment::BeforeTool(call("Shell", only(&["command"]), None))
        }
        MCP => {
            let tool = required(payload, "tool_name")?;
            let server = mcp(payload, tool.strip_prefix("MCP:").unwrap_or(tool))?;
            Moment::BeforeTool(call(tool, Cow::Owned(input(payload)?), Some(server)))
        }
        "beforeReadFile" | "beforeTabFileRead" => {
            required(payload, "file_path")?;
            Moment::BeforeTool(call("Read", only(&["file_path"]), None))
        }
        "sessionStart" => Moment::SessionStart,
        _ => Moment::Other,
    };
    Ok(Event {
        client: &CLIENT,
        name,
        moment,
        cwd: text(payload, "cwd")?.or_else(|| first_root(payload)),
        session: text(payload, "conversation_id")?,
        mode: None,
        version: text(payload, "cursor_version")?,
        call_id: text(payload, "tool_use_id")?,
    })
}

/// Returns the server and the tool of an MCP call; a server that the event does not name is unknown.
fn mcp(payload: &Map<String, Value>, tool: &str) -> Result<(String, String), EventError> {
    let server = text(payload, "mcp_server_name")?.unwrap_or("?");
    Ok((server.to_owned(), tool.to_owned()))
}

/// Returns the arguments of an MCP call, which are an object or its text.
fn input(payload: &Map<String, Value>) -> Result<Map<String, Value>, EventError> {
    match payload.get("tool_input") {
        Some(Value::Object(input)) => Ok(input.clone()),
        Some(Value::String(text)) => {
            crate::json::object(text.as_bytes()).map_err(|_| EventError::Type("tool_input"))
        }
        Some(_) => Err(EventError::Type("tool_input")),
        None => Err(EventError::Missing("tool_input")),
    }
}

fn first_root(payload: &Map<String, Value>) -> Option<&str> {
    payload.get("workspace_roots")?.as_array()?.first()?.as_str()
}

/// Returns whether a person is asked: at the events before a shell command and before an MCP call, and
/// so at the event before any tool, which leaves the question to them.
fn asks(event: &Event<'_>) -> bool {
    matches!(event.name, SHELL | MCP) || is_asked_later(event)
}

fn is_asked_later(event: &Event<'_>) -> bool {
    let Moment::BeforeTool(call) = &event.moment else { return false };
    event.name == BEFORE_TOOL && (call.name == "Shell" || call.server.is_some())
}

fn answer(event: &Event<'_>, answer: &Answer) -> Output {
    match answer {
        Answer::Deny { reason } => denied(reason),
        Answer::Ask { .. } if is_asked_later(event) => {
            Output::json(&json!({ "permission": "allow" }))
        }
        Answer::Ask { reason } if asks(event) => Output::json(&json!({
            "permission": "ask",
            "user_message": reason,
            "agent_message": reason,
        })),
        Answer::Ask { reason } => denied(reason),
        Answer::NoObjection { context } | Answer::Grant { context } => {
            let context = context.as_deref();
            Output::json(&match (&event.moment, context) {
                (Moment::SessionStart | Moment::AfterTool(_), Some(context)) => {
                    json!({ "additional_context": context })
                }
                (Moment::SessionStart | Moment::AfterTool(_), None) => json!({}),
                (Moment::Other, _) if event.name == "beforeSubmitPrompt" => {
                    json!({ "continue": true })
                }
                _ => json!({ "permission": "allow" }),
            })
        }
    }
}

fn denied(reason: &str) -> Output {
    let value = json!({ "permission": "deny", "user_message": reason, "agent_message": reason });
    Output::denial(&value, reason)
}

fn refusal(reason: &str) -> Output {
    denied(reason)
}
