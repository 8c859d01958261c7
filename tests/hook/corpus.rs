//! One corpus of calls through the dialects of all clients, and through `decide`, which the server's
//! door and the decision port ask: one decision each.

use std::collections::BTreeMap;

use relay_engine::decide::Decision;
use serde_json::{Map, Value, json};

use super::dialect::{CLIENTS, Play};
use super::guard::{Guard, POLICY};
use crate::decide::Judged;
use crate::policy::corpus::all_commands;

/// The number of commands, which are spread over all corpora.
const COMMANDS: usize = 240;

fn commands() -> Vec<String> {
    let all = all_commands();
    let step = all.len() / COMMANDS;
    all.into_iter().step_by(step).take(COMMANDS).collect()
}

/// Returns the decision as a record says it.
fn recorded(decision: &Decision) -> String {
    format!("{} {} {}", decision.outcome.word(), decision.tier.number(), decision.rule_name())
}

#[test]
fn all_clients_and_the_door_decide_alike() {
    let guard = Guard::new();
    let judged = Judged::of(POLICY);
    let cwd = guard.text("work");
    let home = relay_hook::OsUser::current().home.expect("this user has a home");
    let commands = commands();
    let notes: Vec<String> = (0..20).map(|number| format!("/etc/n{number}")).collect();
    let tools = ["note-add", "note-drop", "note-send"];
    let mut calls: Vec<(Play<'_>, &str, Map<String, Value>)> = Vec::new();
    for text in &commands {
        let arguments = Map::from_iter([("command".to_owned(), json!(text))]);
        calls.push((Play::Shell(text), "shell_exec", arguments));
    }
    for (name, path) in notes.iter().enumerate() {
        for tool in tools {
            let arguments = Map::from_iter([
                ("name".to_owned(), json!(path)),
                ("count".to_owned(), json!(name)),
            ]);
            let full = format!("notes/{tool}");
            let play = Play::Server("notes", tool, Value::Object(arguments.clone()));
            calls.push((play, String::leak(full), arguments));
        }
    }
    assert!(calls.len() >= 300, "{}", calls.len());
    let config = guard.path("hook.toml");
    let (mut expected, mut number, mut outcomes) = (Vec::new(), 0, BTreeMap::new());
    for (play, tool, arguments) in &calls {
        let decision = judged.at((&cwd, home.to_str().expect("UTF-8")), tool, arguments);
        *outcomes.entry(decision.outcome).or_insert(0) += 1;
        for client in CLIENTS {
            let Some(event) = play.event(client, &cwd) else { continue };
            let installed = relay_hook::find(client).expect("a client");
            let bytes = event.to_string();
            _ = relay_hook::respond(installed, Some(&config), bytes.as_bytes(), |_| {});
            number += 1;
            expected.push((client, play, recorded(&decision)));
        }
    }
    let records = guard.records();
    assert_eq!(records.len(), number);
    let mut different = Vec::new();
    for ((client, play, expected), record) in expected.iter().zip(&records) {
        let rule = record["rule"].as_str().unwrap();
        let name = rule.split(": ").next().unwrap_or(rule);
        let decision = record["decision"].as_str().unwrap();
        let found = format!("{decision} {} {name}", record["tier"]);
        // Codex hides what is typed into a program.
        let is_hidden = *client == "codex" && rule.contains("hides what is typed");
        if found != *expected && !is_hidden {
            different.push(format!("{client} {play:?}: {found}, and {expected} elsewhere"));
        }
    }
    assert!(different.is_empty(), "{}\n{}", different.len(), different.join("\n"));
    assert!(outcomes.len() >= 3 && outcomes.values().all(|count| *count > 10), "{outcomes:?}");
}
