//! VS Code, its local agent: the file of Copilot CLI.

use serde_json::{Value, json};

use super::Target;
use super::claude_code;
use super::copilot::{self, BEFORE};
use super::place::Place;
use super::sample::{Answered, Kind, Reading, SERVER, Sample, TOOL};
use super::switch::{Off, Switch};

pub(super) const TARGET: Target = Target {
    name: "vscode",
    program: Some("code"),
    oldest: None,
    too_new: None,
    is_tried: false,
    parts: copilot::parts,
    before: BEFORE,
    stays_open: &[
        "a hook that takes longer than its timeout: the call runs",
        "`chat.useHooks`, policies of the organisation and an untrusted workspace switch hooks off",
        "other agents in VS Code (Copilot CLI, Claude, Codex) have the hooks of their own files",
        "Copilot CLI reads the same file: installed for one, it is installed for both",
    ],
    afterwards: |_| "reload the window",
    switches,
    is_trusted: None,
    event,
    reading,
};

fn switches(place: &Place) -> Vec<Switch> {
    let switch = |folder: &std::path::Path| Switch {
        path: folder.join(".vscode/settings.json"),
        member: &["chat.useHooks"],
        off: Off::Is(false),
    };
    place.project_folders().map(switch).collect()
}

fn event(sample: &Sample<'_>) -> Option<(&'static str, Value)> {
    let mcp = format!("mcp_{SERVER}_{TOOL}");
    let (tool, input) = match sample.kind {
        Kind::Shell => ("run_in_terminal", json!({ "command": sample.command() })),
        Kind::File => {
            (sample.file_tool("create_file", "read_file"), json!({ "filePath": sample.path() }))
        }
        Kind::Mcp => (mcp.as_str(), json!({})),
        // Its table of tools has none that fetches.
        Kind::Fetch => return None,
    };
    let more = json!({ "timestamp": "2026-01-01T00:00:00Z" });
    Some((BEFORE, sample.like_claude(tool, input, more)))
}

/// Reads an answer as VS Code does: exit code 2 with a reason denies, with anything on standard output.
/// An event that cannot be read is denied in the form of the client that the hook is installed for.
fn reading(answered: &Answered) -> Reading {
    match answered.code {
        Some(2) if !answered.stderr.trim().is_empty() => Reading::Deny,
        _ => claude_code::reading(answered),
    }
}
