//! The texts that the hook gives the model.

use serde_json::{Value, json};

use super::dialect::Play;
use super::guard::Guard;

const PROJECT: &str = r#"
prompts { prompt deploy { summary "How to deploy"; text "Deploy." } }
skills repeat=once { tool "shell_exec" { skill shells "Write in sh." } }
policy open
"#;

fn context(stdout: &str) -> Option<String> {
    let value: Value = serde_json::from_str(stdout).ok()?;
    let found = ["/hookSpecificOutput/additionalContext", "/additionalContext", "/context"];
    found.iter().find_map(|path| Some(value.pointer(path)?.as_str()?.to_owned()))
}

#[test]
fn a_session_begins_with_the_index_of_prompts() {
    let guard = Guard::of(PROJECT);
    let event = json!({
        "session_id": "s", "transcript_path": "/t", "cwd": guard.text("work"),
        "hook_event_name": "SessionStart", "source": "startup",
    });
    let ended = guard.hook("claude-code", &event);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(context(&ended.stdout).expect("a text").contains("deploy"), "{ended:?}");
    let event = json!({ "sessionId": "s", "cwd": guard.text("work"), "source": "new" });
    let ended = guard.hook("copilot", &event);
    assert!(context(&ended.stdout).expect("a text").contains("deploy"), "{ended:?}");
}

#[test]
fn skills_go_with_a_call_and_once_a_session() {
    let guard = Guard::of(PROJECT);
    let mut event = Play::Shell("ls").event("claude-code", &guard.text("work")).unwrap();
    let first = guard.hook("claude-code", &event);
    assert_eq!(context(&first.stdout).as_deref(), Some("Write in sh."), "{first:?}");
    assert_eq!(guard.last()["skills"], json!(["shells"]));
    let second = guard.hook("claude-code", &event);
    let again = "(These rules apply to this call too, as sent before: shells.)";
    assert_eq!(context(&second.stdout).as_deref(), Some(again));
    event["session_id"] = "other".into();
    let third = guard.hook("claude-code", &event);
    assert_eq!(context(&third.stdout).as_deref(), Some("Write in sh."));
}
