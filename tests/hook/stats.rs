//! `relay hook stats` over the records of the hook itself.

use serde_json::{Value, json};

use super::dialect::Play;
use super::guard::Guard;
use crate::binaries;

/// Runs `relay hook stats` with these words.
fn stats(guard: &Guard, words: &[&str]) -> (Option<i32>, String) {
    let mut command = harness::command(binaries::relay(), &guard.path("work"));
    command.args(["hook", "stats"]).arg(guard.path("audit.jsonl")).args(words);
    let ended = harness::run(command);
    (ended.code, ended.stdout)
}

fn play(guard: &Guard, client: &str, play: &Play<'_>) {
    let event = play.event(client, &guard.text("work")).expect("the client has such a tool");
    let installed = relay_hook::find(client).expect("a client");
    let config = guard.path("hook.toml");
    _ = relay_hook::respond(installed, Some(&config), event.to_string().as_bytes(), |_| {});
}

#[test]
fn each_call_is_counted_once_and_each_rule_has_its_remedy() {
    let guard = Guard::new();
    for _ in 0..3 {
        play(&guard, "claude-code", &Play::Shell("git push origin main"));
    }
    play(&guard, "claude-code", &Play::Shell("ls"));
    play(&guard, "claude-code", &Play::Shell("touch notes"));
    play(&guard, "claude-code", &Play::Shell("echo x > /etc/motd"));
    // This client cannot ask.
    play(&guard, "codex", &Play::Shell("git push origin main"));
    play(&guard, "codex", &Play::Shell("systemctl stop nginx"));
    let (code, text) = stats(&guard, &["--json"]);
    assert_eq!(code, Some(0), "{text}");
    let found: Value = serde_json::from_str(&text).expect("JSON");
    let counts = ["calls", "no_objection", "granted", "asked", "waited", "approved", "denied"];
    let counted = counts.map(|name| found[name].as_u64().expect("a number"));
    assert_eq!(counted, [8, 2, 0, 3, 1, 0, 2], "{text}");
    assert_eq!(found["undecided"], 0, "{text}");
    assert_eq!(found["no_objection_by_tier"], json!([1, 1, 0, 0]));
    assert_eq!(found["clients"], json!({ "claude-code": 6, "codex": 2 }));
    let rules = |list: &str| -> Vec<(String, u64)> {
        let rows = found[list].as_array().expect("a list").iter();
        rows.map(|row| (row["rule"].as_str().unwrap().to_owned(), row["calls"].as_u64().unwrap()))
            .collect()
    };
    assert_eq!(rules("asking"), [("policy.pushes".to_owned(), 4)]);
    assert_eq!(rules("denying"), [("mode-guarded".to_owned(), 1), ("policy.no-etc".to_owned(), 1)]);
    let remedy = found["asking"][0]["remedy"].as_str().expect("a remedy");
    assert!(remedy.starts_with("except {"), "{remedy}");
    let at = found["asking"][0]["at"].as_str().expect("a place");
    assert!(at.starts_with("project.kdl:"), "{at}");
    let (_, human) = stats(&guard, &[]);
    for words in ["       8  calls", "       3  asked", "Rules that ask", "policy.pushes"] {
        assert!(human.contains(words), "{words}: {human}");
    }
}

/// Answers for people are told apart from questions.
#[test]
fn grants_are_counted() {
    let guard = Guard::new();
    guard.configure("allow = 'grant'");
    play(&guard, "claude-code", &Play::Shell("ls"));
    play(&guard, "claude-code", &Play::Shell("git push origin main"));
    let (_, text) = stats(&guard, &["--json"]);
    let found: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&found["granted"], &found["asked"]), (&json!(1), &json!(1)), "{text}");
}

#[test]
fn a_time_and_an_empty_file_count_nothing() {
    let guard = Guard::new();
    play(&guard, "claude-code", &Play::Shell("ls"));
    let (code, text) = stats(&guard, &["--since", "2999-01-01"]);
    assert_eq!((code, text.as_str()), (Some(1), ""));
    guard.write("audit.jsonl", "");
    let (code, text) = stats(&guard, &[]);
    assert_eq!((code, text.as_str()), (Some(1), ""));
}
