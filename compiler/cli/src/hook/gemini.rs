//! Gemini CLI: `settings.json`, with comments, and times in milliseconds.

use serde_json::{Value, json};

use super::merge::{JsonPart, Setting};
use super::part::{Contents, Part};
use super::place::{Place, Scope, system_path};
use super::sample::{Kind, SERVER, Sample, TOOL};
use super::switch::{Off, Switch};
use super::{Setup, TIMEOUT_S, Target};

const NAME: &str = "gemini";
const BEFORE: &str = "BeforeTool";
/// The name of the hook, by which settings can switch it off.
const HOOK: &str = "relay";

pub(super) const TARGET: Target = Target {
    name: NAME,
    program: Some("gemini"),
    oldest: None,
    too_new: None,
    is_tried: true,
    parts,
    before: BEFORE,
    stays_open: &[
        "a hook that takes longer than its timeout: the call runs",
        "in a folder that is not trusted no hook runs, the system's neither: Gemini CLI asks before every tool there",
        "`hooksConfig.disabled` in the settings of a trusted project switches the hook off, the system's too; so there is no managed form that holds against a project",
    ],
    afterwards: |_| "restart Gemini CLI: it reads its settings at the start",
    switches,
    is_trusted: None,
    event,
    reading: |answered| answered.read(&["decision"]),
};

fn parts(setup: &Setup<'_>) -> Vec<Part> {
    let managed = system_path(
        "/etc/gemini-cli/settings.json",
        "/Library/Application Support/GeminiCli/settings.json",
    );
    let path = setup.path(".gemini/settings.json", ".gemini/settings.json", managed);
    let hook = json!({
        "type": "command",
        "name": HOOK,
        "command": setup.line(NAME).closed(),
        "timeout": TIMEOUT_S * 1000,
    });
    let entries = vec![
        (BEFORE, json!({ "matcher": ".*", "hooks": [hook] })),
        ("AfterTool", json!({ "matcher": ".*", "hooks": [hook] })),
        ("SessionStart", json!({ "hooks": [hook] })),
    ];
    let settings = match setup.scope {
        // Else a project could switch all hooks off.
        Scope::Managed => {
            vec![Setting { path: &["hooksConfig", "enabled"], value: json!(true), is_forced: true }]
        }
        Scope::User | Scope::Project => Vec::new(),
    };
    let clients = &[NAME];
    vec![Part {
        path,
        contents: Contents::Json(JsonPart { clients, comments: true, settings, entries }),
    }]
}

fn switches(place: &Place) -> Vec<Switch> {
    let mut all = Vec::new();
    let own = place.home(".gemini/settings.json");
    for path in
        [own].into_iter().chain(place.project_folders().map(|it| it.join(".gemini/settings.json")))
    {
        all.push(Switch {
            path: path.clone(),
            member: &["hooksConfig", "enabled"],
            off: Off::Is(false),
        });
        all.push(Switch { path, member: &["hooksConfig", "disabled"], off: Off::Has(HOOK) });
    }
    all
}

fn event(sample: &Sample<'_>) -> Option<(&'static str, Value)> {
    let mcp = format!("mcp_{SERVER}_{TOOL}");
    let (tool, input) = match sample.kind {
        Kind::Shell => ("run_shell_command", json!({ "command": sample.command() })),
        Kind::File => {
            (sample.file_tool("write_file", "read_file"), json!({ "file_path": sample.path() }))
        }
        Kind::Mcp => (mcp.as_str(), json!({})),
        Kind::Fetch => ("web_fetch", json!({ "prompt": "read https://example.com/" })),
    };
    let mut more = json!({ "hook_event_name": BEFORE, "timestamp": "2026-01-01T00:00:00Z" });
    if let (Kind::Mcp, Value::Object(more)) = (sample.kind, &mut more) {
        let context = json!({ "server_name": SERVER, "tool_name": TOOL });
        more.insert("mcp_context".to_owned(), context);
    }
    let mut event = sample.like_claude(tool, input, more);
    if let Value::Object(members) = &mut event {
        members.shift_remove("tool_use_id");
    }
    Some((BEFORE, event))
}
