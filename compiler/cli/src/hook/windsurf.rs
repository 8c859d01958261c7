//! Windsurf: `hooks.json`, an event for each kind of action; only exit code 2 denies.

use serde_json::{Value, json};

use super::merge::JsonPart;
use super::part::{Contents, Part};
use super::place::system_path;
use super::sample::{Answered, Kind, Reading, SERVER, SESSION, Sample, TOOL};
use super::{Setup, Target};

const NAME: &str = "windsurf";
const RUN: &str = "pre_run_command";
const WRITE: &str = "pre_write_code";
const READ: &str = "pre_read_code";
const MCP: &str = "pre_mcp_tool_use";

pub(super) const TARGET: Target = Target {
    name: NAME,
    program: None,
    oldest: None,
    too_new: None,
    is_tried: false,
    parts,
    before: RUN,
    stays_open: &[
        "a hook that is killed together with its shell, or that Windsurf stops waiting for",
        "it cannot ask a person: relay denies in place of a question",
        "it takes no text for the model, so skills do not reach it",
        "actions other than commands, files and MCP calls have no event",
    ],
    afterwards: |_| "restart Windsurf",
    switches: |_| Vec::new(),
    is_trusted: None,
    event,
    reading,
};

fn parts(setup: &Setup<'_>) -> Vec<Part> {
    let managed =
        system_path("/etc/windsurf/hooks.json", "/Library/Application Support/Windsurf/hooks.json");
    let path = setup.path(".codeium/windsurf/hooks.json", ".windsurf/hooks.json", managed);
    let hook = json!({ "command": setup.line(NAME).closed(), "show_output": true });
    let entries = [RUN, WRITE, READ, MCP].map(|event| (event, hook.clone())).into();
    let (clients, settings) = (&[NAME], Vec::new());
    vec![Part {
        path,
        contents: Contents::Json(JsonPart { clients, comments: false, settings, entries }),
    }]
}

fn event(sample: &Sample<'_>) -> Option<(&'static str, Value)> {
    let (event, info) = match sample.kind {
        Kind::Shell => (RUN, json!({ "command_line": sample.command(), "cwd": sample.cwd })),
        Kind::File => (sample.file_tool(WRITE, READ), json!({ "file_path": sample.path() })),
        Kind::Mcp => (
            MCP,
            json!({
                "mcp_server_name": SERVER,
                "mcp_tool_name": TOOL,
                "mcp_tool_arguments": sample.input(json!({})),
            }),
        ),
        // It has no event for an address.
        Kind::Fetch => return None,
    };
    let event_payload = json!({
        "agent_action_name": event,
        "trajectory_id": SESSION,
        "execution_id": "1",
        "timestamp": "2026-01-01T00:00:00Z",
        "tool_info": info,
    });
    Some((event, event_payload))
}

fn reading(answered: &Answered) -> Reading {
    match answered.code {
        Some(2) if !answered.stderr.trim().is_empty() => Reading::Deny,
        Some(0) => Reading::Silent,
        _ => Reading::Unclear,
    }
}
