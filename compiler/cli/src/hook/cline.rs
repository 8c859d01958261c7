//! Cline: a program named after the event, which only denies by its answer.

use serde_json::{Value, json};

use super::own_file::OwnFile;
use super::part::{Contents, Part};
use super::place::Scope;
use super::sample::{Answered, Kind, Reading, SERVER, SESSION, Sample, TOOL};
use super::{Setup, Target};

const NAME: &str = "cline";
const BEFORE: &str = "PreToolUse";

pub(super) const TARGET: Target = Target {
    name: NAME,
    program: None,
    oldest: None,
    too_new: None,
    is_tried: false,
    parts,
    before: BEFORE,
    stays_open: &[
        "a hook that takes longer than its timeout, or that cannot be started: the call runs",
        "it cannot ask a person: relay denies in place of a question",
        "hooks are off until they are switched on in its settings",
    ],
    afterwards: |_| "switch hooks on in the settings of Cline, and restart it",
    switches: |_| Vec::new(),
    is_trusted: None,
    event,
    reading,
};

fn parts(setup: &Setup<'_>) -> Vec<Part> {
    let text = OwnFile::marked(include_str!("cline.sh"), &setup.line(NAME))
        .replace("COMMAND", &setup.line(NAME).plain());
    // The extension and the command line have folders of their own.
    let paths = match setup.scope {
        Scope::User => vec![
            setup.place.home("Documents/Cline/Hooks/PreToolUse"),
            setup.place.home(".cline/hooks/PreToolUse"),
        ],
        Scope::Project => vec![setup.place.project(".clinerules/hooks/PreToolUse")],
        Scope::Managed => Vec::new(),
    };
    let part = |path| {
        let (clients, event) = (&[NAME], BEFORE);
        let file = OwnFile { text: text.clone(), is_program: true, clients, event };
        Part { path, contents: Contents::Own(file) }
    };
    paths.into_iter().map(part).collect()
}

fn event(sample: &Sample<'_>) -> Option<(&'static str, Value)> {
    let (tool, input) = match sample.kind {
        Kind::Shell => ("execute_command", json!({ "command": sample.command() })),
        Kind::File => {
            (sample.file_tool("write_to_file", "read_file"), json!({ "path": sample.path() }))
        }
        Kind::Mcp => (
            "use_mcp_tool",
            json!({
                "server_name": SERVER,
                "tool_name": TOOL,
                "arguments": sample.input(json!({})),
            }),
        ),
        Kind::Fetch => ("web_fetch", sample.input(json!({ "url": "https://example.com/" }))),
    };
    let event = json!({
        "hookName": BEFORE,
        "clineVersion": "0.0.0",
        "taskId": SESSION,
        "workspaceRoots": [sample.cwd],
        "preToolUse": { "tool": tool, "parameters": input },
    });
    Some((BEFORE, event))
}

fn reading(answered: &Answered) -> Reading {
    let answer: Option<Value> = serde_json::from_str(&answered.stdout).ok();
    let cancel = answer.as_ref().and_then(|answer| answer.get("cancel")?.as_bool());
    let message = answer.as_ref().and_then(|answer| answer.get("errorMessage")?.as_str());
    match (cancel, message) {
        (Some(true), Some(message)) if !message.is_empty() => Reading::Deny,
        (Some(false), None) => Reading::Silent,
        _ => Reading::Unclear,
    }
}
