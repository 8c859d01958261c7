//! VS Code, its local agent. It answers like Claude Code; its reason is for the person, so the model
//! gets it as context too.

use relay_bundle::Selector;
use serde_json::{Map, Value, json};

use super::Client;
use super::claude_code::{moment, specific};
use crate::answer::{Answer, Output};
use crate::event::{Event, EventError, either, text};
use crate::tool::{Does, Tool};

pub(super) const CLIENT: Client = Client {
    name: "vscode",
    title: "VS Code",
    version: "source of 2026-03-29",
    tools: TOOLS,
    context_chars_max: 8_192,
    fits,
    read,
    asks: |_| true,
    answer,
    refusal,
    server_tools: |name| match name.strip_prefix("mcp_") {
        Some(rest) => super::at_each(rest, "_"),
        None => Vec::new(),
    },
};

const PATHS: &[&str] = &["filePath", "path", "filePaths"];

const TOOLS: &[Tool] = &[
    Tool { name: "run_in_terminal", does: Does::Runs("command", None) },
    Tool { name: "get_terminal_output", does: Does::Nothing },
    Tool { name: "read_file", does: Does::Touches(Selector::Reads, PATHS) },
    Tool { name: "create_file", does: Does::Touches(Selector::Writes, PATHS) },
    Tool { name: "create_directory", does: Does::Touches(Selector::Writes, &["dirPath", "path"]) },
    Tool { name: "replace_string_in_file", does: Does::Touches(Selector::Writes, PATHS) },
    Tool {
        name: "multi_replace_string_in_file",
        does: Does::Touches(Selector::Writes, &["replacements"]),
    },
    Tool { name: "insert_edit_into_file", does: Does::Touches(Selector::Writes, PATHS) },
    Tool { name: "edit_notebook_file", does: Does::Touches(Selector::Writes, PATHS) },
    Tool { name: "apply_patch", does: Does::Patches("input") },
    Tool { name: "list_dir", does: Does::Searches(&["path"]) },
    Tool { name: "file_search", does: Does::Searches(&["path"]) },
    Tool { name: "grep_search", does: Does::Searches(&["path"]) },
    Tool { name: "semantic_search", does: Does::Searches(&["path"]) },
    Tool { name: "get_errors", does: Does::Nothing },
    Tool { name: "get_changed_files", does: Does::Nothing },
    Tool { name: "manage_todo_list", does: Does::Nothing },
    Tool { name: "runSubagent", does: Does::Nothing },
];

fn fits(payload: &Map<String, Value>) -> bool {
    let has = |name: &str| payload.contains_key(name);
    if has("cursor_version") || has("turn_id") || has("toolName") {
        return false;
    }
    let event = payload.get("hook_event_name").and_then(Value::as_str);
    has("hookEventName")
        || has("timestamp") && matches!(event, Some("PreToolUse" | "PostToolUse" | "SessionStart"))
}

fn read(payload: &Map<String, Value>) -> Result<Event<'_>, EventError> {
    let name = either(payload, "hook_event_name", "hookEventName")?
        .ok_or(EventError::Missing("hook_event_name"))?;
    Ok(Event {
        client: &CLIENT,
        name,
        moment: moment(name, payload)?,
        cwd: text(payload, "cwd")?,
        session: either(payload, "session_id", "sessionId")?,
        mode: None,
        version: None,
        call_id: text(payload, "tool_use_id")?,
    })
}

fn answer(event: &Event<'_>, answer: &Answer) -> Output {
    match (event.name, answer) {
        ("PreToolUse", Answer::Deny { reason }) => denied(reason),
        (name, answer) => specific(name, answer),
    }
}

fn denied(reason: &str) -> Output {
    let value = json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": reason,
        "additionalContext": reason,
    } });
    Output::denial(&value, reason)
}

fn refusal(reason: &str) -> Output {
    denied(reason)
}
