//! Claude Code. Its exit code 2 is a denial with the reason of the JSON on standard output.

use relay_bundle::Selector;
use serde_json::{Map, Value, json};

use super::{Client, at_each};
use crate::answer::{Answer, Output};
use crate::event::{Event, EventError, Moment, ToolCall, object, required, text};
use crate::tool::{Does, Tool};

pub(super) const CLIENT: Client = Client {
    name: "claude-code",
    title: "Claude Code",
    version: "2.1.331",
    tools: TOOLS,
    // Over 10,000 characters it gives the model a file and a preview.
    context_chars_max: 8_192,
    fits,
    read,
    asks,
    answer,
    refusal,
    server_tools,
};

const TOOLS: &[Tool] = &[
    Tool { name: "Bash", does: Does::Runs("command", None) },
    Tool { name: "Monitor", does: Does::Runs("command", None) },
    Tool { name: "BashOutput", does: Does::Nothing },
    Tool { name: "KillShell", does: Does::Nothing },
    Tool { name: "KillBash", does: Does::Nothing },
    Tool { name: "Read", does: Does::Touches(Selector::Reads, &["file_path"]) },
    Tool { name: "NotebookRead", does: Does::Touches(Selector::Reads, &["notebook_path"]) },
    Tool { name: "Write", does: Does::Touches(Selector::Writes, &["file_path"]) },
    Tool { name: "Edit", does: Does::Touches(Selector::Writes, &["file_path"]) },
    Tool { name: "MultiEdit", does: Does::Touches(Selector::Writes, &["file_path"]) },
    Tool { name: "NotebookEdit", does: Does::Touches(Selector::Writes, &["notebook_path"]) },
    Tool { name: "Glob", does: Does::Searches(&["path", "pattern"]) },
    Tool { name: "Grep", does: Does::Searches(&["path"]) },
    Tool { name: "LS", does: Does::Searches(&["path"]) },
    Tool { name: "WebFetch", does: Does::Fetches("url") },
    Tool { name: "WebSearch", does: Does::Nothing },
    Tool { name: "Task", does: Does::Nothing },
    Tool { name: "Agent", does: Does::Nothing },
    Tool { name: "TaskOutput", does: Does::Nothing },
    Tool { name: "TaskStop", does: Does::Nothing },
    Tool { name: "TaskCreate", does: Does::Nothing },
    Tool { name: "TaskGet", does: Does::Nothing },
    Tool { name: "TaskList", does: Does::Nothing },
    Tool { name: "TaskUpdate", does: Does::Nothing },
    Tool { name: "TodoWrite", does: Does::Nothing },
    Tool { name: "TodoRead", does: Does::Nothing },
    Tool { name: "EnterPlanMode", does: Does::Nothing },
    Tool { name: "ExitPlanMode", does: Does::Nothing },
    Tool { name: "AskUserQuestion", does: Does::Nothing },
    Tool { name: "Skill", does: Does::Nothing },
    Tool { name: "SlashCommand", does: Does::Nothing },
    Tool { name: "ToolSearch", does: Does::Nothing },
    Tool { name: "ListAgents", does: Does::Nothing },
    Tool { name: "SendMessage", does: Does::Nothing },
    Tool { name: "ReportFindings", does: Does::Nothing },
    Tool { name: "CronCreate", does: Does::Nothing },
    Tool { name: "CronDelete", does: Does::Nothing },
    Tool { name: "CronList", does: Does::Nothing },
    Tool { name: "ScheduleWakeup", does: Does::Nothing },
    Tool { name: "EnterWorktree", does: Does::Nothing },
    Tool { name: "ListMcpResources", does: Does::Nothing },
    Tool { name: "ReadMcpResource", does: Does::Nothing },
    Tool { name: "ReadMcpResourceDir", does: Does::Nothing },
    Tool { name: "RefreshMcpTools", does: Does::Nothing },
    Tool { name: "PushNotification", does: Does::Nothing },
    Tool { name: "ProposeGoal", does: Does::Nothing },
    Tool { name: "ProposeSkills", does: Does::Nothing },
    Tool { name: "ListMcpResourcesTool", does: Does::Nothing },
    Tool { name: "ReadMcpResourceTool", does: Does::Nothing },
];

fn fits(payload: &Map<String, Value>) -> bool {
    let has = |name: &str| payload.contains_key(name);
    has("hook_event_name")
        && (has("prompt_id") || has("permission_mode") || has("transcript_path"))
        && !["cursor_version", "turn_id", "timestamp", "hookEventName"].into_iter().any(has)
}

fn read(payload: &Map<String, Value>) -> Result<Event<'_>, EventError> {
    let name = required(payload, "hook_event_name")?;
    let moment = moment(name, payload)?;
    Ok(Event {
        client: &CLIENT,
        name,
        moment,
        cwd: text(payload, "cwd")?,
        session: text(payload, "session_id")?,
        mode: text(payload, "permission_mode")?,
        version: None,
        call_id: text(payload, "tool_use_id")?,
    })
}

/// Reads the moment of an event, which several clients say in the same way.
pub(super) fn moment<'e>(
    name: &str,
    payload: &'e Map<String, Value>,
) -> Result<Moment<'e>, EventError> {
    Ok(match name {
        "PreToolUse" => Moment::BeforeTool(tool(payload)?),
        "PermissionRequest" => Moment::Permission(tool(payload)?),
        "PostToolUse" => Moment::AfterTool(tool(payload)?),
        "SessionStart" => Moment::SessionStart,
        "ConfigChange" => {
            Moment::Settings { file: text(payload, "file_path")?, source: text(payload, "source")? }
        }
        _ => Moment::Other,
    })
}

fn tool(payload: &Map<String, Value>) -> Result<ToolCall<'_>, EventError> {
    let name = required(payload, "tool_name")?;
    let server = match payload.get("mcp_server") {
        Some(Value::Object(server)) => text(server, "name")?,
        Some(Value::String(server)) => Some(server.as_str()),
        _ => None,
    };
    Ok(ToolCall {
        name,
        input: std::borrow::Cow::Borrowed(object(payload, "tool_input")?),
        server: server.and_then(|server| named(name, server)),
    })
}

/// Returns the server and the tool of `mcp__server__tool`, the server by its own name.
fn named(name: &str, server: &str) -> Option<(String, String)> {
    let spelled: String = server
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' })
        .collect();
    let rest = name.strip_prefix("mcp__")?;
    let tool = rest
        .strip_prefix(&format!("{server}__"))
        .or_else(|| rest.strip_prefix(&format!("{spelled}__")))?;
    Some((server.to_owned(), tool.to_owned()))
}

pub(super) fn server_tools(name: &str) -> Vec<String> {
    name.strip_prefix("mcp__").map(|rest| at_each(rest, "__")).unwrap_or_default()
}

fn asks(event: &Event<'_>) -> bool {
    // In these modes it takes a question for a yes or a no of its own.
    !matches!(event.mode, Some("bypassPermissions" | "dontAsk"))
}

fn answer(event: &Event<'_>, answer: &Answer) -> Output {
    specific(event.name, answer)
}

/// Writes an answer as Claude Code and the clients that follow it read it.
pub(super) fn specific(event: &str, answer: &Answer) -> Output {
    let decided = |decision: &str, reason: &str| {
        json!({ "hookSpecificOutput": {
            "hookEventName": event,
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        } })
    };
    match (event, answer) {
        ("PreToolUse", Answer::Deny { reason }) => Output::denial(&decided("deny", reason), reason),
        ("PreToolUse", Answer::Ask { reason }) => Output::json(&decided("ask", reason)),
        ("PreToolUse", Answer::Grant { context }) => {
            let mut value = json!({ "hookSpecificOutput": {
                "hookEventName": event,
                "permissionDecision": "allow",
            } });
            if let (Some(context), Some(Value::Object(inner))) =
                (context, value.get_mut("hookSpecificOutput"))
            {
                inner.insert("additionalContext".to_owned(), Value::from(context.as_str()));
            }
            Output::json(&value)
        }
        (_, Answer::Deny { reason } | Answer::Ask { reason }) => {
            Output::denial(&json!({ "decision": "block", "reason": reason }), reason)
        }
        (_, answer) => match answer.context() {
            Some(context) => Output::json(&json!({ "hookSpecificOutput": {
                "hookEventName": event,
                "additionalContext": context,
            } })),
            None => Output::silence(),
        },
    }
}

pub(super) fn refusal(reason: &str) -> Output {
    specific("PreToolUse", &Answer::deny(reason))
}
