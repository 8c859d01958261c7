//! OpenCode, through the plugin that `relay hook install opencode` writes: it sends each call of a
//! tool as an object, and throws unless the answer is an allow.

use relay_bundle::Selector;
use serde_json::{Map, Value, json};

use super::{Client, at_each};
use crate::answer::{Answer, Output};
use crate::event::{Event, EventError, Moment, ToolCall, object, required, text};
use crate::tool::{Does, Tool};

pub(super) const CLIENT: Client = Client {
    name: "opencode",
    title: "OpenCode",
    version: "1.18.33",
    tools: TOOLS,
    context_chars_max: 8_192,
    fits: |payload| {
        payload.get("hook").and_then(Value::as_str).is_some_and(|hook| hook.contains('.'))
    },
    read,
    asks: |_| false,
    answer,
    refusal,
    server_tools: |name| at_each(name, "_"),
};

const TOOLS: &[Tool] = &[
    Tool { name: "bash", does: Does::Runs("command", Some("workdir")) },
    Tool { name: "read", does: Does::Touches(Selector::Reads, &["filePath"]) },
    Tool { name: "write", does: Does::Touches(Selector::Writes, &["filePath"]) },
    Tool { name: "edit", does: Does::Touches(Selector::Writes, &["filePath"]) },
    Tool { name: "multiedit", does: Does::Touches(Selector::Writes, &["filePath"]) },
    Tool { name: "patch", does: Does::Patches("patchText") },
    Tool { name: "apply_patch", does: Does::Patches("patchText") },
    Tool { name: "list", does: Does::Searches(&["path"]) },
    Tool { name: "glob", does: Does::Searches(&["path", "pattern"]) },
    Tool { name: "grep", does: Does::Searches(&["path"]) },
    Tool { name: "webfetch", does: Does::Fetches("url") },
    Tool { name: "websearch", does: Does::Nothing },
    Tool { name: "todowrite", does: Does::Nothing },
    Tool { name: "todoread", does: Does::Nothing },
    Tool { name: "task", does: Does::Nothing },
    Tool { name: "skill", does: Does::Nothing },
    Tool { name: "question", does: Does::Nothing },
];

fn read(payload: &Map<String, Value>) -> Result<Event<'_>, EventError> {
    let name = required(payload, "hook")?;
    let call = || {
        Ok(ToolCall {
            name: required(payload, "tool")?,
            input: std::borrow::Cow::Borrowed(object(payload, "args")?),
            server: None,
        })
    };
    let moment = match name {
        "tool.execute.before" => Moment::BeforeTool(call()?),
        "tool.execute.after" => Moment::AfterTool(call()?),
        "session.start" => Moment::SessionStart,
        _ => Moment::Other,
    };
    Ok(Event {
        client: &CLIENT,
        name,
        moment,
        cwd: text(payload, "directory")?,
        session: text(payload, "sessionID")?,
        mode: None,
        version: text(payload, "version")?,
        call_id: text(payload, "callID")?,
    })
}

fn answer(_: &Event<'_>, answer: &Answer) -> Output {
    match answer {
        Answer::Deny { reason } | Answer::Ask { reason } => denied(reason),
        answer => Output::json(&match answer.context() {
            Some(context) => json!({ "decision": "allow", "context": context }),
            None => json!({ "decision": "allow" }),
        }),
    }
}

fn denied(reason: &str) -> Output {
    Output::denial(&json!({ "decision": "deny", "reason": reason }), reason)
}

fn refusal(reason: &str) -> Output {
    denied(reason)
}
