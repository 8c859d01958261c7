//! Gemini CLI. It takes plain text for an allow with exit code 0 and for a denial with 2.

use relay_bundle::Selector;
use serde_json::{Map, Value, json};

use super::{Client, at_each};
use crate::answer::{Answer, Output};
use crate::event::{Event, EventError, Moment, ToolCall, object, required, text};
use crate::tool::{Does, Tool};

pub(super) const CLIENT: Client = Client {
    name: "gemini",
    title: "Gemini CLI",
    version: "0.61.0",
    tools: TOOLS,
    context_chars_max: 8_192,
    fits,
    read,
    asks,
    answer,
    refusal,
    server_tools: |name| {
        name.strip_prefix("mcp_").map(|rest| at_each(rest, "_")).unwrap_or_default()
    },
};

const BEFORE: &str = "BeforeTool";
const AFTER: &str = "AfterTool";

const TOOLS: &[Tool] = &[
    Tool { name: "run_shell_command", does: Does::Runs("command", Some("dir_path")) },
    Tool { name: "read_file", does: Does::Touches(Selector::Reads, &["file_path"]) },
    Tool { name: "read_many_files", does: Does::Searches(&["include", "paths"]) },
    Tool { name: "write_file", does: Does::Touches(Selector::Writes, &["file_path"]) },
    Tool { name: "replace", does: Does::Touches(Selector::Writes, &["file_path"]) },
    Tool { name: "list_directory", does: Does::Searches(&["dir_path", "path"]) },
    Tool { name: "glob", does: Does::Searches(&["dir_path", "path", "pattern"]) },
    Tool { name: "grep_search", does: Does::Searches(&["dir_path", "path"]) },
    Tool { name: "search_file_content", does: Does::Searches(&["dir_path", "path"]) },
    Tool { name: "web_fetch", does: Does::FetchesAll("prompt") },
    Tool { name: "google_web_search", does: Does::Nothing },
    Tool { name: "write_todos", does: Does::Nothing },
    Tool { name: "ask_user", does: Does::Nothing },
    Tool { name: "enter_plan_mode", does: Does::Nothing },
    Tool { name: "exit_plan_mode", does: Does::Nothing },
    Tool { name: "invoke_agent", does: Does::Nothing },
    Tool { name: "list_background_processes", does: Does::Nothing },
    Tool { name: "read_background_output", does: Does::Nothing },
    Tool { name: "update_topic", does: Does::Nothing },
    Tool { name: "activate_skill", does: Does::Nothing },
    Tool { name: "get_internal_docs", does: Does::Nothing },
];

/// Returns whether a person is asked. A tool of an MCP server that the settings trust runs all the same.
fn asks(event: &Event<'_>) -> bool {
    !matches!(&event.moment, Moment::BeforeTool(call) if call.server.is_some())
}

fn fits(payload: &Map<String, Value>) -> bool {
    let has = |name: &str| payload.contains_key(name);
    let event = payload.get("hook_event_name").and_then(Value::as_str);
    let is_own = matches!(event, Some(BEFORE | AFTER | "BeforeAgent" | "AfterAgent"))
        || matches!(event, Some("BeforeModel" | "AfterModel" | "BeforeToolSelection"));
    let is_start = event == Some("SessionStart") && has("timestamp") && has("transcript_path");
    !has("cursor_version") && !has("turn_id") && (is_own || is_start)
}

fn read(payload: &Map<String, Value>) -> Result<Event<'_>, EventError> {
    let name = required(payload, "hook_event_name")?;
    let moment = match name {
        BEFORE => Moment::BeforeTool(tool(payload)?),
        AFTER => Moment::AfterTool(tool(payload)?),
        "SessionStart" => Moment::SessionStart,
        _ => Moment::Other,
    };
    Ok(Event {
        client: &CLIENT,
        name,
        moment,
        cwd: text(payload, "cwd")?,
        session: text(payload, "session_id")?,
        mode: None,
        version: None,
        call_id: None,
    })
}

fn tool(payload: &Map<String, Value>) -> Result<ToolCall<'_>, EventError> {
    let server = match payload.get("mcp_context") {
        Some(Value::Object(context)) => {
            let server = required(context, "server_name")?;
            let tool = required(context, "tool_name")?;
            Some((server.to_owned(), tool.to_owned()))
        }
        Some(Value::Null) | None => None,
        Some(_) => return Err(EventError::Type("mcp_context")),
    };
    Ok(ToolCall {
        name: required(payload, "tool_name")?,
        input: std::borrow::Cow::Borrowed(object(payload, "tool_input")?),
        server,
    })
}

fn answer(event: &Event<'_>, answer: &Answer) -> Output {
    match answer {
        Answer::Deny { reason } => denied(reason),
        Answer::Ask { reason } => Output::json(&json!({ "decision": "ask", "reason": reason })),
        // It takes context only after a tool and at the start.
        answer if event.name == BEFORE || answer.context().is_none() => Output::json(&json!({})),
        answer => Output::json(&json!({ "hookSpecificOutput": {
            "hookEventName": event.name,
            "additionalContext": answer.context(),
        } })),
    }
}

fn denied(reason: &str) -> Output {
    Output::denial(&json!({ "decision": "deny", "reason": reason }), reason)
}

fn refusal(reason: &str) -> Output {
    denied(reason)
}
