//! A change of the client's settings -> the reason to keep the settings as they were.
//!
//! Claude Code reads its settings again while it runs, so a call that may write them can switch the
//! hook off. Its event about the change is a second net: the first is that the policy asks a person
//! before such a file is written.

use std::path::Path;

use relay_machine::file::text_file;
use relay_policy::classify::changes_code;
use serde_json::{Map, Value};

use crate::json;

/// The kind of the settings of a user.
const USER: &str = "user_settings";
/// Variables of clients that move their settings, beside those that change the code that runs.
const MOVES: [&str; 3] = ["CLAUDE_CONFIG_DIR", "CLAUDE_CODE_SIMPLE", "CODEX_HOME"];

/// Returns the reason for which new settings must not count, if there is one.
pub(crate) fn fault(file: Option<&str>, source: Option<&str>, installed: &str) -> Option<String> {
    let Some(file) = file else {
        return Some("settings changed in a file that the event does not name".to_owned());
    };
    let text = match text_file::read(Path::new(file)) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && source != Some(USER) => {
            return None;
        }
        Err(_) => return Some(format!("`{file}` changed and cannot be read")),
    };
    let Ok(settings) = json::object(text.as_bytes()) else {
        return Some(format!("`{file}` is not one JSON object"));
    };
    if settings.get("disableAllHooks").is_some_and(|value| *value != Value::Bool(false)) {
        return Some(format!("`{file}` switches hooks off (`disableAllHooks`)"));
    }
    if let Some(Value::Object(env)) = settings.get("env")
        && let Some(name) =
            env.keys().find(|name| changes_code(name) || MOVES.contains(&name.as_str()))
    {
        return Some(format!("`{file}` sets `{name}`, which changes the code that runs"));
    }
    if source == Some(USER) && !runs_hook(&settings, installed) {
        return Some(format!("`{file}` no longer runs relay before each tool"));
    }
    None
}

/// Returns whether settings run the hook of this client before each tool.
fn runs_hook(settings: &Map<String, Value>, client: &str) -> bool {
    let groups = settings.get("hooks").and_then(|hooks| hooks.get("PreToolUse"));
    let groups = groups.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    groups.iter().any(|group| {
        let is_for_all =
            matches!(group.get("matcher").and_then(Value::as_str), None | Some("" | "*"));
        let hooks = group.get("hooks").and_then(Value::as_array);
        is_for_all && hooks.is_some_and(|hooks| hooks.iter().any(|hook| is_relay(hook, client)))
    })
}

fn is_relay(hook: &Value, client: &str) -> bool {
    let command = hook.get("command").and_then(Value::as_str).unwrap_or_default();
    let args = hook.get("args").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut words = command.split_whitespace().chain(args.iter().filter_map(Value::as_str));
    let is_program = words.next().is_some_and(|word| word.ends_with("/relay-hook"));
    is_program && words.any(|word| word == client)
}
