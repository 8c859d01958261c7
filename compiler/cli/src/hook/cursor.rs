//! Cursor: `hooks.json`, whose hooks it can be told to close on every failure.

use serde_json::{Value, json};

use super::merge::{JsonPart, Setting};
use super::part::{Contents, Part};
use super::place::system_path;
use super::sample::{Answered, Kind, Reading, SERVER, SESSION, Sample, TOOL};
use super::{Setup, TIMEOUT_S, Target};

const NAME: &str = "cursor";
const BEFORE: &str = "preToolUse";
const SHELL: &str = "beforeShellExecution";
const MCP: &str = "beforeMCPExecution";
const READ: &str = "beforeReadFile";

pub(super) const TARGET: Target = Target {
    name: NAME,
    program: Some("cursor"),
    oldest: None,
    too_new: None,
    is_tried: false,
    parts,
    before: BEFORE,
    stays_open: &[
        "it asks a person only before a shell command and before an MCP call: elsewhere relay denies in place of a question",
        "cloud agents run the hooks of a project alone, without those for MCP, and none in their first turns",
        "which events its command line fires is not documented",
    ],
    afterwards: |_| "Cursor loads the file when it is saved: Settings, Hooks lists it",
    switches: |_| Vec::new(),
    is_trusted: None,
    event,
    reading,
};

fn parts(setup: &Setup<'_>) -> Vec<Part> {
    let managed =
        system_path("/etc/cursor/hooks.json", "/Library/Application Support/Cursor/hooks.json");
    let path = setup.path(".cursor/hooks.json", ".cursor/hooks.json", managed);
    let command = setup.line(NAME).plain();
    let closed = json!({ "command": command, "timeout": TIMEOUT_S, "failClosed": true });
    let text = json!({ "command": command, "timeout": TIMEOUT_S });
    let mut entries: Vec<_> =
        [BEFORE, SHELL, MCP, READ].map(|event| (event, closed.clone())).into();
    // They only bring texts to the model.
    entries.extend(["sessionStart", "postToolUse"].map(|event| (event, text.clone())));
    let settings = vec![version()];
    let clients = &[NAME];
    vec![Part {
        path,
        contents: Contents::Json(JsonPart { clients, comments: false, settings, entries }),
    }]
}

/// Returns the version of the form of the file, which Cursor and Copilot CLI need.
pub(super) fn version() -> Setting {
    Setting { path: &["version"], value: json!(1), is_forced: false }
}

fn event(sample: &Sample<'_>) -> Option<(&'static str, Value)> {
    let (event, own) = match (sample.kind, sample.is_forbidden) {
        (Kind::Shell, _) => (SHELL, json!({ "command": sample.command(), "cwd": sample.cwd })),
        (Kind::File, true) => (
            BEFORE,
            json!({ "tool_name": "Write", "tool_input": { "file_path": sample.path() }, "cwd": sample.cwd }),
        ),
        (Kind::File, false) => (READ, json!({ "file_path": sample.path() })),
        (Kind::Mcp, _) => (
            MCP,
            json!({ "tool_name": TOOL, "tool_input": sample.input(json!("{}")), "mcp_server_name": SERVER }),
        ),
        // It has no tool of its own that fetches.
        (Kind::Fetch, _) => return None,
    };
    let mut payload = json!({
        "conversation_id": SESSION,
        "generation_id": "1",
        "hook_event_name": event,
        "cursor_version": "0.0.0",
        "workspace_roots": [sample.cwd],
    });
    if let (Value::Object(payload), Value::Object(own)) = (&mut payload, own) {
        payload.extend(own);
    }
    Some((event, payload))
}

fn reading(answered: &Answered) -> Reading {
    match answered.read(&["permission"]) {
        // An answer without a decision is a failure, which it closes on.
        Reading::Silent => Reading::Unclear,
        // Relay has no other word for no objection here.
        Reading::Allow => Reading::Silent,
        reading => reading,
    }
}
