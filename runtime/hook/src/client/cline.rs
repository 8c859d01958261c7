//! Cline. Only `cancel` denies: it looks at no exit code, and takes a hook that fails for no hook.

use relay_bundle::Selector;
use serde_json::{Map, Value, json};

use super::Client;
use crate::answer::{Answer, Output};
use crate::event::{Event, EventError, Moment, ToolCall, either, object, required, text};
use crate::tool::{Does, Tool};

pub(super) const CLIENT: Client = Client {
    name: "cline",
    title: "Cline",
    version: "source of 2026-08-22",
    tools: TOOLS,
    context_chars_max: 8_192,
    fits: |payload| payload.contains_key("hookName"),
    read,
    asks: |_| false,
    answer,
    refusal,
    server_tools: |_| Vec::new(),
};

const PATHS: &[&str] = &["path", "paths", "file_path", "files"];

const TOOLS: &[Tool] = &[
    Tool { name: "execute_command", does: Does::Runs("command", None) },
    Tool { name: "run_commands", does: Does::Runs("commands", None) },
    Tool { name: "read_file", does: Does::Touches(Selector::Reads, PATHS) },
    Tool { name: "read_files", does: Does::Touches(Selector::Reads, PATHS) },
    Tool { name: "write_to_file", does: Does::Touches(Selector::Writes, PATHS) },
    Tool { name: "replace_in_file", does: Does::Touches(Selector::Writes, PATHS) },
    Tool { name: "editor", does: Does::Touches(Selector::Writes, PATHS) },
    Tool { name: "apply_patch", does: Does::Patches("input") },
    Tool { name: "list_files", does: Does::Searches(&["path"]) },
    Tool { name: "search_files", does: Does::Searches(&["path"]) },
    Tool { name: "list_code_definition_names", does: Does::Searches(&["path"]) },
    Tool { name: "web_fetch", does: Does::Fetches("url") },
    Tool { name: "ask_followup_question", does: Does::Nothing },
    Tool { name: "attempt_completion", does: Does::Nothing },
    Tool { name: "plan_mode_respond", does: Does::Nothing },
    Tool { name: "new_task", does: Does::Nothing },
    Tool { name: "focus_chain", does: Does::Nothing },
];

fn read(payload: &Map<String, Value>) -> Result<Event<'_>, EventError> {
    let name = required(payload, "hookName")?;
    let moment = match name {
        "tool_call" | "PreToolUse" => Moment::BeforeTool(call(payload)?),
        _ => Moment::Other,
    };
    let roots = payload.get("workspaceRoots").and_then(Value::as_array);
    Ok(Event {
        client: &CLIENT,
        name,
        moment,
        cwd: roots.and_then(|roots| roots.first()).and_then(Value::as_str),
        session: text(payload, "taskId")?,
        mode: None,
        version: text(payload, "clineVersion")?,
        call_id: None,
    })
}

/// Reads a call, which the command line sends in two places; both must say the same.
fn call(payload: &Map<String, Value>) -> Result<ToolCall<'_>, EventError> {
    let before = object(payload, "preToolUse")?;
    let name = either(before, "toolName", "tool")?.ok_or(EventError::Missing("preToolUse.tool"))?;
    let input = object(before, "parameters")?;
    if let Some(other) = payload.get("tool_call") {
        let Value::Object(other) = other else { return Err(EventError::Type("tool_call")) };
        let is_same = text(other, "name")? == Some(name)
            && other.get("input").is_none_or(|other| other.as_object() == Some(input));
        if !is_same {
            return Err(EventError::Twice("tool_call", "preToolUse"));
        }
    }
    if name != "use_mcp_tool" && name != "access_mcp_resource" {
        return Ok(ToolCall { name, input: std::borrow::Cow::Borrowed(input), server: None });
    }
    let server = required(input, "server_name")?.to_owned();
    let tool = text(input, "tool_name")?.unwrap_or(name).to_owned();
    let arguments = match input.get("arguments") {
        Some(Value::Object(arguments)) => arguments.clone(),
        Some(Value::String(text)) => {
            crate::json::object(text.as_bytes()).map_err(|_| EventError::Type("arguments"))?
        }
        Some(_) => return Err(EventError::Type("arguments")),
        None => Map::new(),
    };
    Ok(ToolCall { name, input: std::borrow::Cow::Owned(arguments), server: Some((server, tool)) })
}

fn answer(_: &Event<'_>, answer: &Answer) -> Output {
    match answer {
        Answer::Deny { reason } | Answer::Ask { reason } => denied(reason),
        answer => Output::json(&match answer.context() {
            Some(context) => json!({ "cancel": false, "contextModification": context }),
            None => json!({ "cancel": false }),
        }),
    }
}

/// Returns a denial, with exit code 0: it ignores a hook that fails.
fn denied(reason: &str) -> Output {
    let denial = Output::denial(&json!({ "cancel": true, "errorMessage": reason }), reason);
    Output { code: 0, ..denial }
}

fn refusal(reason: &str) -> Output {
    denied(reason)
}
