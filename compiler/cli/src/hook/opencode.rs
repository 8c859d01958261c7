//! OpenCode: a plugin, since it has no hooks of commands.

use serde_json::{Value, json};

use super::own_file::OwnFile;
use super::part::{Contents, Part};
use super::place::Scope;
use super::sample::{Answered, Kind, Reading, SERVER, SESSION, Sample, TOOL};
use super::{Setup, Target, Version};

const NAME: &str = "opencode";
const BEFORE: &str = "tool.execute.before";

pub(super) const TARGET: Target = Target {
    name: NAME,
    program: Some("opencode"),
    oldest: Some((Version([1, 3, 4]), "older versions load plugins of another form")),
    too_new: Some((
        Version([2, 0, 0]),
        "it loads plugins of another form, and answers no request with one of this form",
    )),
    is_tried: true,
    parts,
    before: BEFORE,
    stays_open: &[
        "`--pure` and `OPENCODE_PURE` load no plugin",
        "it cannot ask a person: relay denies in place of a question",
    ],
    afterwards: |_| "restart OpenCode: it loads plugins at the start",
    switches: |_| Vec::new(),
    is_trusted: None,
    event,
    reading,
};

fn parts(setup: &Setup<'_>) -> Vec<Part> {
    if setup.scope == Scope::Managed {
        return Vec::new();
    }
    let path = setup.path(".config/opencode/plugins/relay.js", ".opencode/plugins/relay.js", "");
    let line = setup.line(NAME);
    let words = [line.program_text()].into_iter().chain(line.arguments());
    // JSON is JavaScript, and its texts end where they should.
    let program = words.map(|word| Value::from(word).to_string()).collect::<Vec<_>>().join(", ");
    let text =
        OwnFile::marked(include_str!("opencode.js"), &line).replace("PROGRAM_JSON", &program);
    let (clients, event) = (&[NAME], BEFORE);
    vec![Part {
        path,
        contents: Contents::Own(OwnFile { text, is_program: false, clients, event }),
    }]
}

fn event(sample: &Sample<'_>) -> Option<(&'static str, Value)> {
    let mcp = format!("{SERVER}_{TOOL}");
    let (tool, input) = match sample.kind {
        Kind::Shell => ("bash", json!({ "command": sample.command() })),
        Kind::File => (sample.file_tool("write", "read"), json!({ "filePath": sample.path() })),
        Kind::Mcp => (mcp.as_str(), json!({})),
        Kind::Fetch => ("webfetch", json!({ "url": "https://example.com/" })),
    };
    let event = json!({
        "hook": BEFORE,
        "tool": tool,
        "sessionID": SESSION,
        "callID": SESSION,
        "args": sample.input(input),
        "directory": sample.cwd,
    });
    Some((BEFORE, event))
}

/// Reads the end of the script that loads the plugin: it prints an allow, or the text that was thrown.
fn reading(answered: &Answered) -> Reading {
    match (answered.code, answered.stdout.trim()) {
        (Some(0), "allow") => Reading::Silent,
        (Some(2), "") if answered.stderr.contains('[') => Reading::Deny,
        _ => Reading::Unclear,
    }
}
