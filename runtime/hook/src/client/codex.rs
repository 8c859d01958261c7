//! Codex. It takes an answer with a member that it does not know for a failed hook, and runs the call;
//! so answers hold the needed members alone, and a person approves elsewhere.

use relay_bundle::Selector;
use serde_json::{Map, Value, json};

use super::Client;
use super::claude_code::{moment, server_tools, specific};
use crate::answer::{Answer, Output};
use crate::event::{Event, EventError, required, text};
use crate::tool::{Does, Tool};

pub(super) const CLIENT: Client = Client {
    name: "codex",
    title: "Codex",
    version: "0.169.0",
    tools: TOOLS,
    // Beyond some 2,500 tokens it cuts the middle.
    context_chars_max: 8_192,
    fits,
    read,
    asks: |_| false,
    answer,
    refusal: super::claude_code::refusal,
    server_tools,
};

const TOOLS: &[Tool] = &[
    Tool { name: "Bash", does: Does::Runs("command", None) },
    Tool { name: "apply_patch", does: Does::Patches("command") },
    Tool { name: "view_image", does: Does::Touches(Selector::Reads, &["path"]) },
    Tool { name: "update_plan", does: Does::Nothing },
    Tool { name: "request_user_input", does: Does::Nothing },
    Tool { name: "spawn_agent", does: Does::Nothing },
    Tool { name: "send_input", does: Does::Nothing },
    Tool { name: "wait", does: Does::Nothing },
    Tool { name: "wait_agent", does: Does::Nothing },
    Tool { name: "close_agent", does: Does::Nothing },
    Tool { name: "resume_agent", does: Does::Nothing },
    Tool { name: "send_message", does: Does::Nothing },
    Tool { name: "followup_task", does: Does::Nothing },
    Tool { name: "interrupt_agent", does: Does::Nothing },
    Tool { name: "list_agents", does: Does::Nothing },
    Tool { name: "create_goal", does: Does::Nothing },
    Tool { name: "get_goal", does: Does::Nothing },
    Tool { name: "update_goal", does: Does::Nothing },
    Tool { name: "tool_search", does: Does::Nothing },
    Tool { name: "request_user_input_async", does: Does::Nothing },
    Tool { name: "sleep", does: Does::Nothing },
    Tool { name: "curr_time", does: Does::Nothing },
    Tool { name: "list_mcp_resources", does: Does::Nothing },
    Tool { name: "list_mcp_resource_templates", does: Does::Nothing },
    Tool { name: "read_mcp_resource", does: Does::Nothing },
];

fn fits(payload: &Map<String, Value>) -> bool {
    let has = |name: &str| payload.contains_key(name);
    let is_start = payload.get("hook_event_name") == Some(&Value::from("SessionStart"));
    has("hook_event_name")
        && !has("cursor_version")
        && !has("timestamp")
        && (has("turn_id") || is_start && has("model") && has("permission_mode"))
}

fn read(payload: &Map<String, Value>) -> Result<Event<'_>, EventError> {
    let name = required(payload, "hook_event_name")?;
    Ok(Event {
        client: &CLIENT,
        name,
        moment: moment(name, payload)?,
        cwd: text(payload, "cwd")?,
        session: text(payload, "session_id")?,
        mode: text(payload, "permission_mode")?,
        version: None,
        call_id: text(payload, "tool_use_id")?,
    })
}

fn answer(event: &Event<'_>, answer: &Answer) -> Output {
    let decision = |behavior: Value| {
        json!({ "hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": behavior,
        } })
    };
    match (event.name, answer) {
        ("PermissionRequest", Answer::Grant { .. }) => {
            Output::json(&decision(json!({ "behavior": "allow" })))
        }
        ("PermissionRequest", Answer::Deny { reason }) => {
            Output::denial(&decision(json!({ "behavior": "deny", "message": reason })), reason)
        }
        // Without an answer it asks the person, which is the question.
        ("PermissionRequest", _) => Output::silence(),
        // A bare allow counts as a failed hook.
        ("PreToolUse", Answer::Grant { context }) => {
            specific(event.name, &Answer::NoObjection { context: context.clone() })
        }
        ("PreToolUse", Answer::Ask { reason }) => specific(event.name, &Answer::deny(reason)),
        (name, answer) => specific(name, answer),
    }
}
