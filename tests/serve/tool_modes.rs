//! Tiers and modes: each kind of call has its tier, and each mode lets the calls run that it promises.

use serde_json::{Value, json};

use super::agent::Agent;
use super::house::House;
use super::tool_reference::{house, operator, said};
use super::tool_sessions::spawn;

/// A call of a tool, and its tier. In open mode each of them runs, and changes nothing.
fn calls() -> Vec<(&'static str, Value, u64)> {
    let commands = [("ls", 0), ("touch made", 1), ("rm -f nothing", 2), ("rm -rf nothing", 3)];
    let mut calls = vec![
        ("shell_exec", json!({ "command": "df -h" }), 0),
        ("shell_exec", json!({ "command": "cat", "stdin": "rm -rf nothing" }), 0),
        ("shell_exec", json!({ "command": "bash", "stdin": "rm -rf nothing" }), 3),
        ("shell_exec", json!({ "command": "ls", "env_json": "{\"LANG\": \"C\"}" }), 0),
        ("shell_exec", json!({ "command": "ls", "env_json": "{\"LD_PRELOAD\": \"\"}" }), 3),
        // Programs ignore the value of a harmless variable, and the text may use it for anything.
        ("shell_exec", json!({ "command": "ls $LANG", "env_json": "{\"LANG\": \"-l\"}" }), 0),
        ("shell_exec", find("find . -name nothing $LANG"), 3),
        ("shell_exec", find("sh -c 'find . -name nothing $LANG'"), 3),
        ("shell_exec", find("find . -name '$LANG'"), 0),
        // The value of another variable counts too.
        (
            "shell_exec",
            json!({ "command": "find . -name nothing $A", "env_json": "{\"A\": \"-delete\"}" }),
            3,
        ),
        ("shell_exec", json!({ "command": "echo rm -rf nothing", "use_shell": false }), 0),
        ("shell_script", json!({ "script": "print(1)", "interpreter": "python" }), 0),
        // What code of another language does is hidden, as far as it is not plain.
        ("shell_script", json!({ "script": "open('made', 'w')", "interpreter": "python" }), 2),
        ("session_list", json!({}), 0),
        ("server_info", json!({}), 0),
        ("audit_tail", json!({ "lines": 1 }), 0),
    ];
    for (command, tier) in commands {
        calls.push(("shell_exec", json!({ "command": command }), tier));
        calls.push(("shell_exec", json!({ "command": command, "use_shell": false }), tier));
        for interpreter in ["bash", "sh"] {
            let script = json!({ "script": command, "interpreter": interpreter });
            calls.push(("shell_script", script, tier));
        }
    }
    calls
}

/// A search for files with a variable that deletes them.
fn find(command: &str) -> Value {
    json!({ "command": command, "env_json": "{\"LANG\": \"-delete\"}" })
}

fn name(tier: u64) -> &'static str {
    ["READ_ONLY", "REVERSIBLE", "STATEFUL", "IRREVERSIBLE"][tier as usize]
}

/// The last record of a house.
fn last(house: &House) -> Value {
    let records = house.read("audit.jsonl");
    serde_json::from_str(records.lines().next_back().expect("a record")).expect("JSON")
}

/// Asserts the answer to a call that the mode refuses, and its record.
fn assert_refused(house: &House, mode: &str, tier: u64, answer: &str) {
    let beginning = format!("[DENIED tier {tier} ({}): ", name(tier));
    assert!(answer.starts_with(&beginning) && answer.ends_with(']'), "{mode}: {answer}");
    assert!(answer.contains(mode), "the reason names the mode {mode}: {answer}");
    let record = last(house);
    let found = (&record["tier"], &record["denied"], &record["action"], &record["exit_code"]);
    assert_eq!(found, (&json!(tier), &json!(true), &json!("refused"), &Value::Null), "{record}");
}

#[test]
fn a_mode_permits_up_to_its_tier() {
    for (mode, highest) in [("open", 3), ("guarded", 1), ("readonly", 0)] {
        let house = house(mode, "");
        let mut agent = operator(&house);
        for (tool, mut arguments, tier) in calls() {
            if tool.starts_with("shell_") {
                arguments["cwd"] = json!(house.path(""));
            }
            let answer = said(&mut agent, tool, arguments.clone());
            if tier > highest {
                assert_refused(&house, mode, tier, &answer);
                continue;
            }
            assert!(!answer.starts_with("[DENIED"), "{mode}: {tool} {arguments}: {answer}");
            let record = last(&house);
            let found = (&record["tool"], &record["tier"], &record["denied"]);
            let expected = (&json!(tool), &json!(tier), &json!(false));
            assert_eq!(found, expected, "{mode}: {arguments}");
            if tool.starts_with("shell_") {
                assert!(answer.starts_with("[exit 0]\n"), "{mode}: {arguments}: {answer}");
                assert_eq!(record["exit_code"], 0, "{mode}: {arguments}");
            }
        }
    }
}

/// Starting a session and typing into it are tier 1 by themselves: it is the code that no policy sees in
/// a terminal which makes them tier 2, in every mode.
#[test]
fn tools_of_sessions_have_their_tiers() {
    let house = house("open", "");
    let mut agent = operator(&house);
    let id = spawn(&mut agent, json!({ "command": "cat" }));
    assert_eq!(last(&house)["tier"], 2, "shell_spawn");
    for (tool, arguments, tier) in of_session(&id) {
        said(&mut agent, tool, arguments);
        assert_eq!((&last(&house)["tool"], &last(&house)["tier"]), (&json!(tool), &json!(tier)));
    }
}

fn of_session(id: &str) -> [(&'static str, Value, u64); 5] {
    [
        ("session_send", json!({ "session_id": id, "data": "ls" }), 2),
        ("session_recv", json!({ "session_id": id, "timeout": 0 }), 0),
        ("session_resize", json!({ "session_id": id, "cols": 80, "rows": 24 }), 1),
        ("session_list", json!({}), 0),
        ("session_kill", json!({ "session_id": id }), 1),
    ]
}

#[test]
fn readonly_lets_no_session_change() {
    let house = house("readonly", "allow terminals because=\"x\" { runs opaque }");
    let mut agent = operator(&house);
    for (tool, arguments, tier) in of_session("sh-0") {
        let answer = said(&mut agent, tool, arguments);
        match tier {
            0 => assert!(!answer.starts_with("[DENIED"), "{tool}: {answer}"),
            tier => assert_refused(&house, "readonly", tier, &answer),
        }
    }
    let denied = said(&mut agent, "shell_spawn", json!({}));
    assert!(denied.starts_with("[DENIED tier "), "{denied}");
}

/// A program in a terminal reads code that no policy sees, so in guarded mode it needs an allow for that.
#[test]
fn a_guarded_session_needs_an_allow_of_hidden_code() {
    let bare = house("guarded", "");
    let denied = said(&mut operator(&bare), "shell_spawn", json!({}));
    assert_refused(&bare, "guarded", 2, &denied);
    let allowed = house(
        "guarded",
        "allow terminals because=\"on call\" { tool shell_spawn session_send; runs opaque }",
    );
    let mut agent = operator(&allowed);
    let id = spawn(&mut agent, json!({}));
    let sent = said(&mut agent, "session_send", json!({ "session_id": id, "data": "ls" }));
    assert_eq!(sent, format!("sent 3 bytes to {id}"));
}

#[test]
fn a_deny_comes_first_in_every_mode_and_before_an_allow() {
    for mode in ["open", "guarded", "readonly"] {
        let lines =
            "deny no-id because=\"SEC-1\" { program id }; allow id because=\"x\" { program id }";
        let house = house(mode, lines);
        let mut agent = operator(&house);
        let denied = |agent: &mut Agent, tool: &str, arguments: Value, tier: u64| {
            let answer = said(agent, tool, arguments.clone());
            let beginning = format!("[DENIED tier {tier} ({}): no-id: SEC-1", name(tier));
            assert!(answer.starts_with(&beginning), "{mode}: {arguments}: {answer}");
        };
        denied(&mut agent, "shell_exec", json!({ "command": "id" }), 0);
        denied(&mut agent, "shell_exec", json!({ "command": "id", "use_shell": false }), 0);
        denied(&mut agent, "shell_exec", json!({ "command": "ls; rm -rf x; id" }), 3);
        denied(&mut agent, "shell_exec", json!({ "command": "sh", "stdin": "id" }), 0);
        denied(&mut agent, "shell_script", json!({ "script": "true\nid" }), 0);
    }
}

#[test]
fn an_allow_lets_a_higher_tier_run_in_guarded_mode_alone() {
    let lines = "allow removal because=\"WEB-7\" { program rm; operands nothing }";
    for (mode, runs) in [("open", true), ("guarded", true), ("readonly", false)] {
        let house = house(mode, lines);
        let mut agent = operator(&house);
        let mut exec = |command: &str| {
            said(&mut agent, "shell_exec", json!({ "command": command, "cwd": house.path("") }))
        };
        let answer = exec("rm -f nothing");
        assert_eq!(answer == "[exit 0]\n", runs, "{mode}: {answer}");
        let other = exec("rm -f nothing; rm -f other");
        assert_eq!(other == "[exit 0]\n", mode == "open", "{mode}: {other}");
    }
}
