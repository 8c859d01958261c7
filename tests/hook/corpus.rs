//! One corpus of calls through the dialects of all clients, and through `decide`, which the server's
//! door and the decision port ask: one decision each.

use std::collections::BTreeMap;

use relay_engine::decide::Decision;
use serde_json::{Map, Value, json};

use super::dialect::{CLIENTS, Play};
use super::guard::{Guard, POLICY};
use crate::decide::Judged;
use crate::policy::corpus::all_commands;
use crate::serve::port::{self, Port};

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

/// A call, as clients make it and as a server gets it.
struct Asked {
    play: Play<'static>,
    tool: &'static str,
    arguments: Map<String, Value>,
}

fn calls() -> Vec<Asked> {
    let mut calls = Vec::new();
    for text in commands() {
        let arguments = Map::from_iter([("command".to_owned(), json!(text))]);
        calls.push(Asked { play: Play::Shell(text.leak()), tool: "shell_exec", arguments });
    }
    for count in 0..20 {
        let server = "notes";
        for (tool, full) in [
            ("note-add", "notes/note-add"),
            ("note-drop", "notes/note-drop"),
            ("note-send", "notes/note-send"),
        ] {
            let arguments = Map::from_iter([
                ("name".to_owned(), json!(format!("/etc/n{count}"))),
                ("count".to_owned(), json!(count)),
            ]);
            let play = Play::Server(server, tool, Value::Object(arguments.clone()));
            calls.push(Asked { play, tool: full, arguments });
        }
    }
    assert!(calls.len() >= 300, "{}", calls.len());
    calls
}

#[test]
fn all_clients_and_the_door_decide_alike() {
    let guard = Guard::new();
    let judged = Judged::of(POLICY);
    let cwd = guard.text("work");
    let home = relay_hook::OsUser::current().home.expect("this user has a home");
    let calls = calls();
    let config = guard.path("hook.toml");
    let (mut expected, mut number, mut outcomes) = (Vec::new(), 0, BTreeMap::new());
    for Asked { play, tool, arguments } in &calls {
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

/// A gateway names no folder, so the same call is asked about without one. What it permits, all others
/// permit.
#[test]
fn the_decision_port_decides_alike() {
    let nodes = format!(
        "{POLICY}\n\
         roles {{ role gateway decides=#true; role agent tier=3 }}\n\
         users {{ user gw role=gateway; user ann role=agent }}\n"
    );
    let port = Port::of(&format!("project guard epoch=1\n{nodes}"), "");
    let judged = Judged::of(&nodes);
    let mut outcomes = BTreeMap::new();
    for calls in calls().chunks(100) {
        let decided: Vec<Decision> = calls
            .iter()
            .map(|asked| judged.call(("", "agent"), asked.tool, &asked.arguments))
            .collect();
        let questions = calls.iter().map(|asked| {
            let arguments = Value::Object(asked.arguments.clone());
            port::call(&port::subject("ann"), asked.tool, &arguments)
        });
        let body = json!({ "evaluations": questions.collect::<Vec<_>>() });
        let answer = port.post("/access/v1/evaluations", &body).json();
        let answers = answer["evaluations"].as_array().expect("a list");
        assert_eq!(answers.len(), calls.len(), "{answer}");
        for ((asked, decision), answer) in calls.iter().zip(&decided).zip(answers) {
            let context = &answer["context"];
            let texts = ["outcome", "rule"].map(|key| context[key].as_str().unwrap_or_default());
            let found = format!("{} {} {}", texts[0], context["tier"], texts[1]);
            assert_eq!(found, recorded(decision), "{:?}", asked.play);
            *outcomes.entry(decision.outcome).or_insert(0) += 1;
            if answer["decision"] == true {
                let place = ("/home/ann/app", "/home/ann");
                let there = judged.at_as(Some("agent"), place, asked.tool, &asked.arguments);
                assert_eq!(there.outcome.word(), "allow", "{:?}", asked.play);
            }
        }
    }
    assert!(outcomes.len() >= 3 && outcomes.values().all(|count| *count > 10), "{outcomes:?}");
}
