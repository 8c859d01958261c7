//! Codex: `hooks.json`, whose entries a person must trust, or the requirements of the system.

use std::path::Path;

use serde_json::{Value, json};

use super::claude_code::reading;
use super::file;
use super::merge::JsonPart;
use super::part::{Contents, Part};
use super::place::{Place, Scope};
use super::requirements::Requirements;
use super::sample::{Kind, SERVER, Sample, TOOL};
use super::switch::{Off, Switch};
use super::{Setup, TIMEOUT_S, Target};

const NAME: &str = "codex";
const BEFORE: &str = "PreToolUse";
/// The file with the answers of the person, below the home.
const CONFIG: &str = ".codex/config.toml";

pub(super) const TARGET: Target = Target {
    name: NAME,
    program: Some("codex"),
    oldest: None,
    too_new: None,
    is_tried: true,
    parts,
    before: BEFORE,
    stays_open: &[
        "a hook that takes longer than its timeout: the call runs",
        "a hook that is not trusted in `/hooks`: it is skipped without a message",
        "text that is typed into a running program (`write_stdin`) has no event, so relay denies commands that leave a shell or an interpreter waiting for input",
        "web search and other tools that the provider runs have no event",
        "`--disable hooks` switches the hooks of a person off, but not managed ones",
    ],
    afterwards,
    switches,
    is_trusted: Some(is_trusted),
    event,
    reading,
};

fn parts(setup: &Setup<'_>) -> Vec<Part> {
    let path = setup.path(".codex/hooks.json", ".codex/hooks.json", "/etc/codex/requirements.toml");
    let command = setup.line(NAME).closed();
    let events = events(setup.grants);
    let contents = match setup.scope {
        Scope::Managed => Contents::Toml(Requirements {
            clients: &[NAME],
            managed_dir: setup.program.parent().map(Path::to_path_buf).unwrap_or_default(),
            command,
            events,
            timeout_s: TIMEOUT_S,
        }),
        Scope::User | Scope::Project => {
            let hook = json!({ "type": "command", "command": command, "timeout": TIMEOUT_S });
            let entry = |(event, matcher): (&'static str, Option<&str>)| match matcher {
                Some(matcher) => (event, json!({ "matcher": matcher, "hooks": [hook] })),
                None => (event, json!({ "hooks": [hook] })),
            };
            let entries = events.into_iter().map(entry).collect();
            let clients = &[NAME];
            Contents::Json(JsonPart { clients, comments: false, settings: Vec::new(), entries })
        }
    };
    vec![Part { path, contents }]
}

/// Returns the events with their matchers. An allow of Codex is an answer to its own question.
fn events(grants: bool) -> Vec<(&'static str, Option<&'static str>)> {
    let mut events = vec![(BEFORE, Some("*")), ("SessionStart", None)];
    if grants {
        events.push(("PermissionRequest", Some("*")));
    }
    events
}

const fn afterwards(scope: Scope) -> &'static str {
    match scope {
        Scope::User => {
            "open Codex and trust the hook in `/hooks`: until then Codex skips it without a message, also after each change of its command line"
        }
        Scope::Project => {
            "trust the project, then the hook in `/hooks`: until then Codex skips it without a message"
        }
        Scope::Managed => "restart Codex; managed hooks need no trust",
    }
}

fn switches(place: &Place) -> Vec<Switch> {
    vec![Switch { path: place.home(CONFIG), member: &["features", "hooks"], off: Off::Is(false) }]
}

/// Returns whether a person has trusted relay's entry: Codex keeps a hash by the file, the event, and
/// the numbers of the entry and of the hook. Whether the hash is that of this entry, only Codex says.
fn is_trusted(place: &Place, part: &Part, text: &str) -> bool {
    if matches!(part.contents, Contents::Toml(_)) {
        return true;
    }
    let Ok(Some(config)) = file::read(&place.home(CONFIG)) else { return false };
    let Ok(config) = toml::from_str::<Value>(&config) else { return false };
    let Some(number) = number_of(text) else { return false };
    let key = format!("{}:pre_tool_use:{number}:0", part.path.to_string_lossy());
    let state = config.get("hooks").and_then(|hooks| hooks.get("state")?.get(key));
    state.is_some_and(|state| {
        state.get("trusted_hash").is_some() && state.get("enabled") != Some(&Value::Bool(false))
    })
}

/// Returns the number of relay's entry.
fn number_of(text: &str) -> Option<usize> {
    let root: Value = serde_json::from_str(text).ok()?;
    let entries = root.get("hooks")?.get(BEFORE)?.as_array()?;
    entries.iter().position(|entry| {
        let hooks = entry.get("hooks").and_then(Value::as_array);
        let is_own = |hook| super::Found::of(hook).is_some_and(|found| found.is_own(&[NAME]));
        hooks.is_some_and(|hooks| hooks.iter().any(is_own))
    })
}

fn event(sample: &Sample<'_>) -> Option<(&'static str, Value)> {
    let mcp = format!("mcp__{}__{TOOL}", SERVER.replace('-', "_"));
    let (tool, input) = match (sample.kind, sample.is_forbidden) {
        (Kind::Shell, _) => ("Bash", json!({ "command": sample.command() })),
        (Kind::File, true) => {
            let patch =
                format!("*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch\n", sample.path());
            ("apply_patch", json!({ "command": patch }))
        }
        (Kind::File, false) => ("view_image", json!({ "path": sample.path() })),
        (Kind::Mcp, _) => (mcp.as_str(), json!({})),
        // Its web search has no event.
        (Kind::Fetch, _) => return None,
    };
    let more = json!({ "turn_id": "1", "model": "x", "permission_mode": "default" });
    Some((BEFORE, sample.like_claude(tool, input, more)))
}
