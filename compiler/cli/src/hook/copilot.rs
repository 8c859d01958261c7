//! Copilot CLI: a file of relay's own in its folder of hooks, which VS Code reads too.

use serde_json::{Value, json};

use super::cursor::version;
use super::merge::JsonPart;
use super::part::{Contents, Part};
use super::place::{Place, Scope};
use super::sample::{Kind, SERVER, SESSION, Sample, TOOL};
use super::switch::{Off, Switch};
use super::{Setup, TIMEOUT_S, Target};

const NAME: &str = "copilot";
pub(super) const BEFORE: &str = "preToolUse";

pub(super) const TARGET: Target = Target {
    name: NAME,
    program: Some("copilot"),
    oldest: None,
    too_new: None,
    is_tried: true,
    parts,
    before: BEFORE,
    stays_open: &[
        "a hook that takes longer than its timeout: the call runs",
        "`disableAllHooks` in the person's settings switches the hook off",
        "VS Code reads the same file: installed for one, it is installed for both",
    ],
    afterwards: |_| "restart Copilot CLI: it reads its hooks at the start",
    switches,
    is_trusted: None,
    event,
    reading: |answered| answered.read(&["permissionDecision"]),
};

/// Returns the file that Copilot CLI and VS Code share. `relay-hook` answers in the dialect of the event,
/// so one entry serves both.
pub(super) fn parts(setup: &Setup<'_>) -> Vec<Part> {
    if setup.scope == Scope::Managed {
        return Vec::new();
    }
    let path = setup.path(".copilot/hooks/relay.json", ".github/hooks/relay.json", "");
    let hook = json!({
        "type": "command",
        "bash": setup.line(NAME).closed(),
        "timeoutSec": TIMEOUT_S,
    });
    let entries = vec![(BEFORE, hook.clone()), ("sessionStart", hook)];
    let settings = vec![version()];
    let clients = &[NAME, "vscode"];
    vec![Part {
        path,
        contents: Contents::Json(JsonPart { clients, comments: false, settings, entries }),
    }]
}

fn switches(place: &Place) -> Vec<Switch> {
    let files = [".copilot/settings.json", ".copilot/config.json"];
    let switch =
        |path| Switch { path: place.home(path), member: &["disableAllHooks"], off: Off::Is(true) };
    files.map(switch).into()
}

fn event(sample: &Sample<'_>) -> Option<(&'static str, Value)> {
    let mcp = format!("{SERVER}-{TOOL}");
    let (tool, input) = match sample.kind {
        Kind::Shell => ("bash", json!({ "command": sample.command() })),
        Kind::File => (sample.file_tool("create", "view"), json!({ "path": sample.path() })),
        Kind::Mcp => (mcp.as_str(), json!({})),
        Kind::Fetch => ("web_fetch", json!({ "url": "https://example.com/" })),
    };
    let event = json!({
        "sessionId": SESSION,
        "timestamp": 1_767_225_600_000_u64,
        "cwd": sample.cwd,
        "toolName": tool,
        "toolArgs": sample.input(input),
    });
    Some((BEFORE, event))
}
