//! Claude Code: `settings.json`, by the form that starts the program without a shell.

use serde_json::{Value, json};

use super::merge::{JsonPart, Setting};
use super::part::{Contents, Part};
use super::place::{Place, Scope, system_path};
use super::sample::{Answered, Kind, Reading, SERVER, Sample, TOOL};
use super::switch::{Off, Switch};
use super::{Setup, TIMEOUT_S, Target, Version};

/// The first version that runs no call after a hook that failed, if it is told so.
const CLOSES: Version = Version([2, 1, 295]);
const NAME: &str = "claude-code";
const BEFORE: &str = "PreToolUse";

pub(super) const TARGET: Target = Target {
    name: NAME,
    program: Some("claude"),
    oldest: Some((
        Version([2, 1, 321]),
        "older versions can lose a question of a hook and run the call",
    )),
    too_new: None,
    is_tried: true,
    parts,
    before: BEFORE,
    stays_open: &[
        "versions below 2.1.295 run a call whose hook crashed, timed out or was missing",
        "an answer that is cut short counts as none: relay writes it in one piece",
        "files that a person mentions with `@` are read without an event",
        "`--bare`, `--safe-mode` and `disableAllHooks` switch the hooks of a person off, but not managed ones",
        "in the files of a project or of the system there is no event that undoes changes of settings: a file of the person has it",
    ],
    afterwards,
    switches,
    is_trusted: None,
    event,
    reading,
};

fn parts(setup: &Setup<'_>) -> Vec<Part> {
    let managed = system_path(
        "/etc/claude-code/managed-settings.d/50-relay.json",
        "/Library/Application Support/ClaudeCode/managed-settings.d/50-relay.json",
    );
    // The local file of a project stays out of commits, as the path of a program must.
    let path = setup.path(".claude/settings.json", ".claude/settings.local.json", managed);
    let line = setup.line(NAME);
    let hook = |on_failure: Option<&str>| {
        let mut hook = json!({
            "type": "command",
            "command": line.program_text(),
            "args": line.arguments(),
            "timeout": TIMEOUT_S,
        });
        if let (Some(word), Value::Object(members)) = (on_failure, &mut hook) {
            members.insert("onFailure".to_owned(), word.into());
        }
        hook
    };
    // Older versions ignore it without a word; so it is there only where it holds.
    let closes = setup.version.is_some_and(|version| version >= CLOSES);
    let before = hook(closes.then_some("block"));
    let mut entries = vec![
        (BEFORE, json!({ "matcher": "*", "hooks": [before] })),
        ("SessionStart", json!({ "hooks": [hook(None)] })),
    ];
    // It keeps relay's entry in the file of the person, which has one only in that scope.
    if setup.scope == Scope::User {
        entries.push(("ConfigChange", json!({ "hooks": [hook(None)] })));
    }
    let settings = match setup.scope {
        Scope::Managed => {
            vec![Setting { path: &["allowManagedHooksOnly"], value: json!(true), is_forced: true }]
        }
        Scope::User | Scope::Project => Vec::new(),
    };
    let clients = &[NAME];
    vec![Part {
        path,
        contents: Contents::Json(JsonPart { clients, comments: false, settings, entries }),
    }]
}

const fn afterwards(scope: Scope) -> &'static str {
    match scope {
        Scope::User => "running sessions load the hook at once; `/hooks` lists it",
        Scope::Project => "trust the workspace, else its hooks do not run; `/hooks` lists them",
        Scope::Managed => "restart Claude Code; `/hooks` lists it as managed",
    }
}

fn switches(place: &Place) -> Vec<Switch> {
    let switch = |path| Switch { path, member: &["disableAllHooks"], off: Off::Is(true) };
    let mut all = vec![switch(place.home(".claude/settings.json"))];
    for folder in place.project_folders() {
        for name in [".claude/settings.json", ".claude/settings.local.json"] {
            all.push(switch(folder.join(name)));
        }
    }
    all
}

fn event(sample: &Sample<'_>) -> Option<(&'static str, Value)> {
    let mcp = format!("mcp__{SERVER}__{TOOL}");
    let (tool, input) = match sample.kind {
        Kind::Shell => ("Bash", json!({ "command": sample.command() })),
        Kind::File => (sample.file_tool("Write", "Read"), json!({ "file_path": sample.path() })),
        Kind::Mcp => (mcp.as_str(), json!({})),
        Kind::Fetch => ("WebFetch", json!({ "url": "https://example.com/", "prompt": "x" })),
    };
    let more = json!({ "permission_mode": "default" });
    Some((BEFORE, sample.like_claude(tool, input, more)))
}

/// Reads an answer as Claude Code and the clients that follow it do.
pub(super) fn reading(answered: &Answered) -> Reading {
    answered.read(&["hookSpecificOutput", "permissionDecision"])
}
