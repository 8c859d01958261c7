//! The contract of the session tools, row by row: sizes, parts of output, signals and ends. `terminal` has
//! what is typed, and whose a session is.

use std::collections::BTreeSet;
use std::time::Instant;

use serde_json::{Value, json};

use super::agent::Agent;
use super::tool_reference::{house, operator, said};

/// Begins a session and returns its id.
pub(super) fn spawn(agent: &mut Agent, arguments: Value) -> String {
    let started = said(agent, "shell_spawn", arguments);
    assert!(started.starts_with("session sh-") && started.contains(" started ("), "{started}");
    started.split(' ').nth(1).expect("an id").to_owned()
}

fn receive(agent: &mut Agent, arguments: Value) -> String {
    said(agent, "session_recv", arguments)
}

/// Receives until the end of a session, and returns its output and the last answer.
fn to_end(agent: &mut Agent, id: &str) -> (String, String) {
    let (mut output, since) = (String::new(), Instant::now());
    loop {
        let part = receive(agent, json!({ "session_id": id, "timeout": 5 }));
        if part.starts_with("[session ") {
            return (output, part);
        }
        output.push_str(&part);
        assert!(since.elapsed() < harness::PATIENCE, "{output}");
    }
}

#[test]
fn a_session_begins_in_its_size_folder_and_environment() {
    let house = house("open", "");
    let mut agent = operator(&house);
    let listed = |agent: &mut Agent, id: &str| -> Value {
        let list = said(agent, "session_list", json!({}));
        let list: Vec<Value> = serde_json::from_str(&list).expect("JSON");
        list.into_iter().find(|it| it["id"] == id).expect("the session")
    };
    for (arguments, size) in [
        (json!({}), "120x40"),
        (json!({ "cols": 80, "rows": 24 }), "80x24"),
        (json!({ "cols": 0, "rows": -7 }), "1x1"),
        (json!({ "cols": 70_000, "rows": 1_000_000 }), "65535x65535"),
    ] {
        let id = spawn(&mut agent, arguments.clone());
        let session = listed(&mut agent, &id);
        assert_eq!(session["size"], size, "{arguments}");
        assert_eq!(session["title"], "bash --norc --noprofile -p", "the default");
        for (cols, rows, expected) in [(0, 70_000, "1x65535"), (132, 43, "132x43")] {
            let resize = json!({ "session_id": id, "cols": cols, "rows": rows });
            let expected_text = format!("resized {id} to {expected}");
            assert_eq!(said(&mut agent, "session_resize", resize), expected_text);
            assert_eq!(listed(&mut agent, &id)["size"], expected);
        }
        let killed = said(&mut agent, "session_kill", json!({ "session_id": id }));
        assert_eq!(killed, format!("killed and closed {id}"));
    }
    let folder = house.path("").canonicalize().expect("it exists");
    let id = spawn(
        &mut agent,
        json!({
            "command": "pwd; echo \"$A ${LANG-none} $TERM\"", "cwd": folder,
            "env_json": "{\"A\": \"b\", \"LANG\": null}",
        }),
    );
    let (output, ended) = to_end(&mut agent, &id);
    assert_eq!(output, format!("{}\r\nb none xterm-256color\r\n", folder.display()));
    assert_eq!(ended, format!("[session {id} ended, exit=0]"));
    let session = listed(&mut agent, &id);
    let keys: BTreeSet<_> = session.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "age_s",
        "buffered",
        "closed",
        "dropped",
        "exit_code",
        "id",
        "idle_s",
        "kind",
        "produced",
        "size",
        "title",
    ];
    assert_eq!(keys, BTreeSet::from(expected));
    let counts = ["buffered", "produced", "dropped"].map(|name| session[name].as_u64());
    assert_eq!(counts, [Some(0), Some(output.len() as u64), Some(0)], "{session}");
    assert_eq!((&session["closed"], &session["exit_code"]), (&json!(true), &json!(0)));
}

#[test]
fn output_of_a_session_comes_in_parts_and_an_early_call_gets_nothing() {
    let house = house("open", "");
    let mut agent = operator(&house);
    let id = spawn(
        &mut agent,
        json!({ "command": "stty -echo; read line; printf 'a%.0s' {1..700}; read line" }),
    );
    for timeout in [json!(0), json!(-3), json!(0.05)] {
        assert_eq!(receive(&mut agent, json!({ "session_id": id, "timeout": timeout })), "");
    }
    let sent =
        said(&mut agent, "session_send", json!({ "session_id": id, "data": "ab", "enter": false }));
    assert_eq!(sent, format!("sent 2 bytes to {id}"));
    assert_eq!(receive(&mut agent, json!({ "session_id": id, "timeout": 0.2 })), "", "no line yet");
    let sent = said(&mut agent, "session_send", json!({ "session_id": id, "data": "" }));
    assert_eq!(sent, format!("sent 1 bytes to {id}"), "Enter alone");
    wait_until_buffered(&mut agent, 700);
    let part = |agent: &mut Agent, bytes: Value| {
        receive(agent, json!({ "session_id": id, "timeout": 0, "max_bytes": bytes })).len()
    };
    // At least 256 bytes, and the rest is kept for the next calls.
    let parts = [json!(-1), json!(300), json!(i64::MAX)].map(|bytes| part(&mut agent, bytes));
    assert_eq!(parts, [256, 300, 144]);
    said(&mut agent, "session_send", json!({ "session_id": id, "data": "" }));
    assert_eq!(to_end(&mut agent, &id).1, format!("[session {id} ended, exit=0]"));
}

fn wait_until_buffered(agent: &mut Agent, bytes: u64) {
    let since = Instant::now();
    loop {
        let list = said(agent, "session_list", json!({}));
        let list: Vec<Value> = serde_json::from_str(&list).expect("JSON");
        if list[0]["buffered"].as_u64() >= Some(bytes) {
            return;
        }
        assert!(since.elapsed() < harness::PATIENCE, "{list:?}");
    }
}

#[test]
fn every_ended_session_has_its_exit_code() {
    let house = house("open", "");
    let mut agent = operator(&house);
    for round in 0..3 {
        let ids: Vec<_> = (0..8)
            .map(|number| {
                let code = round * 8 + number;
                (code, spawn(&mut agent, json!({ "command": format!("echo {code}; exit {code}") })))
            })
            .collect();
        for (code, id) in ids {
            let (output, ended) = to_end(&mut agent, &id);
            assert_eq!(output, format!("{code}\r\n"));
            assert_eq!(ended, format!("[session {id} ended, exit={code}]"));
            said(&mut agent, "session_kill", json!({ "session_id": id }));
        }
    }
    let id = spawn(&mut agent, json!({ "command": "sleep 60" }));
    for (name, shown) in [("winch", "WINCH"), ("SIGCONT", "CONT"), ("TERM", "TERM")] {
        let kill = json!({ "session_id": id, "signal_name": name, "close": false });
        assert_eq!(said(&mut agent, "session_kill", kill), format!("sent SIG{shown} to {id}"));
    }
    assert_eq!(to_end(&mut agent, &id).1, format!("[session {id} ended, exit=-15]"));
    let unknown = json!({ "session_id": id, "signal_name": "SIGNAL" });
    let answer = said(&mut agent, "session_kill", unknown);
    assert_eq!(
        answer,
        "[ERROR: unknown signal; there are HUP, INT, QUIT, KILL, USR1, USR2, ALRM, TERM, CONT, STOP, TSTP, WINCH]"
    );
}
