//! Copilot CLI, by its events in camel case, whose names the payload does not say.

use std::borrow::Cow;

use relay_bundle::Selector;
use serde_json::{Map, Value, json};

use super::{Client, at_each};
use crate::answer::{Answer, Output};
use crate::event::{Event, EventError, Moment, ToolCall, required, text};
use crate::tool::{Does, Tool};

pub(super) const CLIENT: Client = Client {
    name: "copilot",
    title: "Copilot CLI",
    version: "1.0.102",
    tools: TOOLS,
    context_chars_max: 8_192,
    fits: |payload| {
        payload.contains_key("toolName")
            || payload.contains_key("toolArgs")
            || payload.contains_key("sessionId") && !payload.contains_key("hookEventName")
    },
    read,
    asks: |_| true,
    answer,
    refusal,
    server_tools: |name| at_each(name, "-"),
};

const PATCH: &str = "apply_patch";

const TOOLS: &[Tool] = &[
    Tool { name: "bash", does: Does::Runs("command", None) },
    Tool { name: "write_bash", does: Does::Types("input") },
    Tool { name: "read_bash", does: Does::Nothing },
    Tool { name: "stop_bash", does: Does::Nothing },
    Tool { name: "list_bash", does: Does::Nothing },
    Tool { name: "view", does: Does::Touches(Selector::Reads, &["path"]) },
    Tool { name: "create", does: Does::Touches(Selector::Writes, &["path"]) },
    Tool { name: "edit", does: Does::Touches(Selector::Writes, &["path"]) },
    Tool { name: PATCH, does: Does::Patches("patch") },
    Tool { name: "grep", does: Does::Searches(&["path", "paths"]) },
    Tool { name: "rg", does: Does::Searches(&["path", "paths"]) },
    Tool { name: "glob", does: Does::Searches(&["path", "paths", "pattern"]) },
    Tool { name: "web_fetch", does: Does::Fetches("url") },
    Tool { name: "web_search", does: Does::Nothing },
    Tool { name: "task", does: Does::Nothing },
    Tool { name: "read_agent", does: Does::Nothing },
    Tool { name: "list_agents", does: Does::Nothing },
    Tool { name: "write_agent", does: Does::Nothing },
    Tool { name: "sql", does: Does::Nothing },
    Tool { name: "session_store_sql", does: Does::Nothing },
    Tool { name: "semantic_code_search", does: Does::Nothing },
    Tool { name: "fetch_copilot_cli_documentation", does: Does::Nothing },
    Tool { name: "report_intent", does: Does::Nothing },
    Tool { name: "update_todo", does: Does::Nothing },
    Tool { name: "ask_user", does: Does::Nothing },
    Tool { name: "skill", does: Does::Nothing },
    Tool { name: "exit_plan_mode", does: Does::Nothing },
];

fn read(payload: &Map<String, Value>) -> Result<Event<'_>, EventError> {
    let (name, moment) = if payload.contains_key("toolName") || payload.contains_key("toolArgs") {
        let call =
            ToolCall { name: required(payload, "toolName")?, input: input(payload)?, server: None };
        match payload.contains_key("toolResult") {
            true => ("postToolUse", Moment::AfterTool(call)),
            false => ("preToolUse", Moment::BeforeTool(call)),
        }
    } else if payload.contains_key("source") || payload.contains_key("initialPrompt") {
        ("sessionStart", Moment::SessionStart)
    } else {
        ("", Moment::Other)
    };
    Ok(Event {
        client: &CLIENT,
        name,
        moment,
        cwd: text(payload, "cwd")?,
        session: text(payload, "sessionId")?,
        mode: None,
        version: None,
        call_id: None,
    })
}

/// Returns the arguments, which older versions send as the text of an object.
fn input(payload: &Map<String, Value>) -> Result<Cow<'_, Map<String, Value>>, EventError> {
    match payload.get("toolArgs") {
        Some(Value::Object(input)) => Ok(Cow::Borrowed(input)),
        // A patch is a text of its own.
        Some(patch @ Value::String(_)) if payload.get("toolName") == Some(&PATCH.into()) => {
            Ok(Cow::Owned(Map::from_iter([("patch".to_owned(), patch.clone())])))
        }
        Some(Value::String(text)) => crate::json::object(text.as_bytes())
            .map(Cow::Owned)
            .map_err(|_| EventError::Type("toolArgs")),
        Some(_) => Err(EventError::Type("toolArgs")),
        None => Err(EventError::Missing("toolArgs")),
    }
}

fn answer(event: &Event<'_>, answer: &Answer) -> Output {
    let decided = |decision: &str, reason: &str| json!({ "permissionDecision": decision, "permissionDecisionReason": reason });
    let context = answer.context();
    match (&event.moment, answer) {
        (_, Answer::Deny { reason }) => denied(reason),
        (_, Answer::Ask { reason }) => Output::json(&decided("ask", reason)),
        (Moment::BeforeTool(_), Answer::Grant { .. }) => {
            let mut value = json!({ "permissionDecision": "allow" });
            if let (Some(context), Some(object)) = (context, value.as_object_mut()) {
                object.insert("additionalContext".to_owned(), Value::from(context));
            }
            Output::json(&value)
        }
        _ => match context {
            Some(context) => Output::json(&json!({ "additionalContext": context })),
            None => Output::silence(),
        },
    }
}

fn denied(reason: &str) -> Output {
    let value = json!({ "permissionDecision": "deny", "permissionDecisionReason": reason });
    Output::denial(&value, reason)
}

fn refusal(reason: &str) -> Output {
    denied(reason)
}
