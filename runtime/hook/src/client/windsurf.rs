//! Windsurf. Only exit code 2 denies, and the reason is on standard error.

use std::borrow::Cow;

use relay_bundle::Selector;
use serde_json::{Map, Value, json};

use super::Client;
use crate::answer::{Answer, Output};
use crate::event::{Event, EventError, Moment, ToolCall, object, required, text};
use crate::tool::{Does, Tool};

pub(super) const CLIENT: Client = Client {
    name: "windsurf",
    title: "Windsurf",
    version: "documentation of 2026-10",
    tools: TOOLS,
    context_chars_max: 0,
    fits: |payload| payload.contains_key("agent_action_name"),
    read,
    asks: |_| false,
    answer,
    refusal,
    server_tools: |_| Vec::new(),
};

const TOOLS: &[Tool] = &[
    Tool { name: "pre_run_command", does: Does::Runs("command_line", Some("cwd")) },
    Tool { name: "pre_read_code", does: Does::Touches(Selector::Reads, &["file_path"]) },
    Tool { name: "pre_write_code", does: Does::Touches(Selector::Writes, &["file_path"]) },
];

fn read(payload: &Map<String, Value>) -> Result<Event<'_>, EventError> {
    let name = required(payload, "agent_action_name")?;
    let moment = match name {
        "pre_mcp_tool_use" => {
            let info = object(payload, "tool_info")?;
            let server = required(info, "mcp_server_name")?.to_owned();
            let tool = required(info, "mcp_tool_name")?.to_owned();
            let input = match info.get("mcp_tool_arguments") {
                Some(Value::Object(arguments)) => arguments.clone(),
                Some(Value::Null) | None => Map::new(),
                Some(_) => return Err(EventError::Type("mcp_tool_arguments")),
            };
            let server = Some((server, tool));
            Moment::BeforeTool(ToolCall { name, input: Cow::Owned(input), server })
        }
        name if TOOLS.iter().any(|tool| tool.name == name) => {
            let input = Cow::Borrowed(object(payload, "tool_info")?);
            Moment::BeforeTool(ToolCall { name, input, server: None })
        }
        // Other events before an action are of actions that no table has.
        name if name.starts_with("pre_") && name != "pre_user_prompt" => {
            let input = Cow::Borrowed(object(payload, "tool_info")?);
            Moment::BeforeTool(ToolCall { name, input, server: None })
        }
        _ => Moment::Other,
    };
    let info = payload.get("tool_info").and_then(Value::as_object);
    Ok(Event {
        client: &CLIENT,
        name,
        moment,
        cwd: info.map(|info| text(info, "cwd")).transpose()?.flatten(),
        session: text(payload, "trajectory_id")?,
        mode: None,
        version: None,
        call_id: text(payload, "execution_id")?,
    })
}

fn answer(_: &Event<'_>, answer: &Answer) -> Output {
    match answer {
        Answer::Deny { reason } | Answer::Ask { reason } => refusal(reason),
        Answer::NoObjection { .. } | Answer::Grant { .. } => Output::silence(),
    }
}

fn refusal(reason: &str) -> Output {
    Output { code_without_reason: crate::answer::DENIED, ..Output::denial(&json!({}), reason) }
}
