//! Sessions: programs in a terminal, driven by their owner alone.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::agent::{Agent, Protocol, error, text};
use super::house::{self, House};
use super::processes;
use super::server::wait_until;
use super::web::{Request, Web};

const PROJECT: &str = "project ops epoch=1\n\
    tools { shell; sessions idle=(duration)\"1d\" }\n\
    roles { role operator tier=3 }\n\
    users { user op role=operator; user eve role=operator }\n\
    policy open { limits sessions=3; deny no-where { writes \"/nowhere/**\" } }\n";

fn house() -> House {
    House::of(&house::bundle_of(PROJECT))
}

/// A house whose policy has no deny.
fn open_house() -> House {
    let open = PROJECT.replace("; deny no-where { writes \"/nowhere/**\" }", "");
    assert_ne!(open, PROJECT);
    House::of(&house::bundle_of(&open))
}

fn agent(house: &House) -> Agent {
    Agent::with(house, Protocol::Modern, &["--principal", "op", "--audit", "audit.jsonl"])
}

/// Begins a session and returns its id.
fn spawn(agent: &mut Agent, arguments: Value) -> String {
    let started = text(&agent.call("shell_spawn", arguments));
    let id = started.split(' ').nth(1).expect("an id").to_owned();
    assert!(started.starts_with("session sh-") && started.contains(" started ("), "{started}");
    id
}

fn send(agent: &mut Agent, id: &str, data: &str) -> String {
    text(&agent.call("session_send", json!({ "session_id": id, "data": data })))
}

/// Types a text, with Enter or without.
fn type_into(agent: &mut Agent, id: &str, data: &str, enter: bool) -> String {
    let arguments = json!({ "session_id": id, "data": data, "enter": enter });
    text(&agent.call("session_send", arguments))
}

fn receive(agent: &mut Agent, id: &str) -> String {
    text(&agent.call("session_recv", json!({ "session_id": id, "timeout": 5 })))
}

/// Receives until a text has come.
fn await_text(agent: &mut Agent, id: &str, wanted: &str) -> String {
    let since = Instant::now();
    let mut all = String::new();
    while !all.contains(wanted) {
        assert!(since.elapsed() < Duration::from_secs(30), "{wanted}: {all}");
        all.push_str(&receive(agent, id));
    }
    all
}

#[test]
fn a_shell_is_driven_to_its_end() {
    let house = house();
    let mut agent = agent(&house);
    let id = spawn(&mut agent, json!({ "cols": 100, "rows": 30 }));
    assert_eq!(
        send(&mut agent, &id, "stty size; tty; echo é$((1+1))"),
        format!("sent 32 bytes to {id}")
    );
    let seen = await_text(&mut agent, &id, "é2");
    assert!(seen.contains("30 100") && seen.contains("/dev/pts/"), "{seen}");
    let resized =
        text(&agent.call("session_resize", json!({ "session_id": id, "cols": 80, "rows": 25 })));
    assert_eq!(resized, format!("resized {id} to 80x25"));
    send(&mut agent, &id, "stty size");
    await_text(&mut agent, &id, "25 80");
    send(&mut agent, &id, "exit 7");
    await_text(&mut agent, &id, "exit");
    let ended = format!("[session {id} ended, exit=7]");
    wait_until(|| true);
    let since = Instant::now();
    while receive(&mut agent, &id) != ended {
        assert!(since.elapsed() < Duration::from_secs(30));
    }
    assert_eq!(
        error(&agent.call("session_send", json!({ "session_id": id, "data": "x" }))),
        "[ERROR: the session has ended]"
    );
}

#[test]
fn programs_in_a_terminal_are_driven() {
    // With a deny over effects, only what is surely no such effect may be typed: code of Python is no
    // text for a shell.
    let house = open_house();
    let mut agent = agent(&house);
    let python = spawn(&mut agent, json!({ "command": "python3 -q" }));
    await_text(&mut agent, &python, ">>> ");
    send(&mut agent, &python, "print(6*7)");
    await_text(&mut agent, &python, "42");
    let vi = spawn(&mut agent, json!({ "command": "cat -u" }));
    send(&mut agent, &vi, "echoed");
    let seen = await_text(&mut agent, &vi, "echoed\r\nechoed\r\n");
    assert_eq!(seen, "echoed\r\nechoed\r\n");
    let mut ids: Vec<Value> =
        serde_json::from_str(&text(&agent.call("session_list", json!({})))).unwrap();
    ids.iter_mut().for_each(|it| *it = it["title"].take());
    ids.sort_by_key(ToString::to_string);
    assert_eq!(ids, ["cat -u", "python3 -q"]);
}

#[test]
fn a_line_is_judged_as_a_whole() {
    let house = house();
    let mut agent = agent(&house);
    let id = spawn(&mut agent, json!({}));
    let part = json!({ "session_id": id, "data": "echo x > /no", "enter": false });
    assert!(text(&agent.call("session_send", part)).starts_with("sent 12 bytes"));
    let denied = send(&mut agent, &id, "where/x");
    assert!(denied.starts_with("[DENIED tier"), "{denied}");
    assert!(denied.contains("no-where"), "{denied}");
}

#[test]
fn what_a_terminal_hides_stays_out_of_the_record() {
    let house = house();
    let mut agent = agent(&house);
    let id = spawn(&mut agent, json!({ "command": "stty -echo; echo ready; read line; echo got" }));
    await_text(&mut agent, &id, "ready");
    send(&mut agent, &id, "true hunter2");
    await_text(&mut agent, &id, "got");
    let shown = spawn(&mut agent, json!({ "command": "cat" }));
    send(&mut agent, &shown, "true shown");
    let records = house.read("audit.jsonl");
    assert!(!records.contains("hunter2"), "{records}");
    assert!(records.contains("\"data\":\"[12 characters]\""), "{records}");
    assert!(records.contains("\"data\":\"true shown\""), "{records}");
}

#[test]
fn editing_a_line_hides_no_command() {
    let house = house();
    let mut agent = agent(&house);
    let id = spawn(&mut agent, json!({}));
    let mut typed = |data: &str, enter: bool| type_into(&mut agent, &id, data, enter);
    for data in [
        "echo \u{15}touch /nowhere/x",
        "echo \u{3}touch /nowhere/x",
        "touchy\u{7f} /nowhere/x",
        "true; touch echo\u{17}/nowhere/x",
        "touch /no\u{1b}where/x",
        "touch /nowhe\tx",
        "/nowhere/x touch\u{1b}t",
    ] {
        let denied = typed(data, true);
        assert!(
            denied.starts_with("[DENIED ") && denied.contains("no-where"),
            "{data:?}: {denied}"
        );
    }
    // In parts: the line before goes on.
    assert_eq!(typed("touchy", false), format!("sent 6 bytes to {id}"));
    assert!(typed("\u{7f} /nowhere/x", true).contains("no-where"));
    // A text that is refused is not typed, and the line before still counts.
    assert!(typed(&"x".repeat(70_000), false).starts_with("[DENIED "));
    assert_eq!(typed("\u{7f}", false), format!("sent 1 bytes to {id}"));
    assert!(typed(" /nowhere/x", true).contains("no-where"));
    // Keys alone are no command.
    assert_eq!(typed("\u{3}", false), format!("sent 1 bytes to {id}"));
    // A shell that is interrupted loses keys until its next prompt.
    let mut seen = await_text(&mut agent, &id, "^C");
    while !seen.rsplit_once("^C").is_some_and(|(_, after)| after.contains("bash-")) {
        seen.push_str(&receive(&mut agent, &id));
    }
    // The line before counts until Enter, since a program may not have dropped it.
    assert!(send(&mut agent, &id, "echo a$((40+2))").contains("no-where"));
    assert_eq!(send(&mut agent, &id, ""), format!("sent 1 bytes to {id}"));
    let sent = send(&mut agent, &id, "echo a$((40+2))");
    assert_eq!(sent, format!("sent 16 bytes to {id}"));
    await_text(&mut agent, &id, "a42");
}

#[test]
fn a_line_is_judged_without_its_folder_which_an_earlier_one_may_have_left() {
    let house = house();
    let mut agent = agent(&house);
    let id = spawn(&mut agent, json!({ "cwd": "/tmp" }));
    let mut typed = |data: &str| type_into(&mut agent, &id, data, true);
    assert!(typed("cd /nowhere").starts_with("sent "));
    let denied = typed("touch relay-never");
    assert!(denied.starts_with("[DENIED ") && denied.contains("no-where"), "{denied}");
    // Where the line says it, the folder is known.
    let named = format!("cd {} && touch made", house.path("").display());
    assert!(typed(&named).starts_with("sent "), "{named}");
    assert!(typed("ls -l").starts_with("sent "));
}

#[test]
fn a_line_whose_beginning_a_program_took_is_judged_from_the_rest_on() {
    let house = house();
    let mut agent = agent(&house);
    let id = spawn(&mut agent, json!({}));
    let mut typed = |data: &str, enter: bool| type_into(&mut agent, &id, data, enter);
    // `read` takes five characters, and the shell has the rest of the line.
    assert!(typed("read -n 5 -t 1 x", true).starts_with("sent "));
    assert!(typed("echo ", false).starts_with("sent "));
    let denied = typed("touch /nowhere/x", true);
    assert!(denied.contains("no-where"), "{denied}");
    // So it is in three parts, of which the first is taken.
    assert!(typed("touch", false).starts_with("sent "));
    let denied = typed(" /nowhere/x", true);
    assert!(denied.contains("no-where"), "{denied}");
    // A line in more parts than are followed is not understood.
    let answers: Vec<String> = (0..70).map(|_| typed("x", false)).collect();
    let typed = answers.iter().take_while(|answer| answer.starts_with("sent ")).count();
    assert!((50..70).contains(&typed), "{typed}");
    assert!(answers[typed].starts_with("[DENIED tier 3"), "{answers:?}");
}

#[test]
fn texts_that_are_sent_at_once_are_judged_in_the_order_in_which_they_are_typed() {
    let house = house();
    let mut agent = agent(&house);
    let id = spawn(&mut agent, json!({}));
    for _ in 0..20 {
        let part = json!({ "session_id": id, "data": "touch", "enter": false });
        let rest = json!({ "session_id": id, "data": " /nowhere/relay-never", "enter": false });
        let requests: Vec<_> =
            [part, rest].into_iter().map(|it| agent.request_id("session_send", it)).collect();
        let answers: Vec<_> =
            requests.into_iter().map(|it| text(&agent.client.answer(it)["result"])).collect();
        // Either the second was judged with the first, or it came first, or neither goes through.
        let both = answers.iter().all(|answer| answer.starts_with("sent "));
        if both {
            let line = json!({ "session_id": id, "data": "", "enter": true });
            let line = text(&agent.call("session_send", line));
            assert!(!line.contains("no-where"), "typed in the other order: {line}");
        } else {
            let interrupt = json!({ "session_id": id, "data": "\u{3}\n", "enter": false });
            assert!(text(&agent.call("session_send", interrupt)).starts_with("sent "));
        }
    }
}

#[test]
fn a_line_has_a_limit_and_a_program_that_reads_nothing_ends_what_can_be_typed() {
    let house = open_house();
    let mut agent = agent(&house);
    let id = spawn(&mut agent, json!({ "command": "sleep 60" }));
    let lines = format!("{}\n", "x".repeat(4_000)).repeat(20);
    let mut typed = |data: &str| {
        text(&agent.call("session_send", json!({ "session_id": id, "data": data, "enter": false })))
    };
    for long in ["x".repeat(4_096), format!("a\n{}\nb", "x".repeat(5_000))] {
        let too_long = typed(&long);
        assert!(too_long.starts_with("[ERROR: a line has more than 4095 bytes"), "{too_long}");
    }
    assert!(typed(&"x".repeat(4_000)).starts_with("sent 4000 bytes"));
    assert!(typed(&"x".repeat(96)).starts_with("[ERROR: a line has more than 4095 bytes"));
    assert!(typed("\n").starts_with("sent 1 bytes"));
    let unread = typed(&lines);
    assert!(unread.starts_with("[ERROR: the program leaves what is typed unread"), "{unread}");
    assert!(typed("a").starts_with("[ERROR: an earlier text was typed only in part"));
}

#[test]
fn an_answer_to_a_question_for_a_password_stays_out_of_the_record() {
    let house = house();
    let mut agent = agent(&house);
    let id = spawn(&mut agent, json!({}));
    send(&mut agent, &id, "read -p 'Vault to''ken: ' answer; echo got $answer");
    await_text(&mut agent, &id, "Vault token: ");
    send(&mut agent, &id, "hunter2-is-it");
    await_text(&mut agent, &id, "got hunter2-is-it");
    agent.client.end();
    let records = house.read("audit.jsonl");
    assert!(records.contains("\"data\":\"[13 characters]\""), "{records}");
    assert!(!records.contains("hunter2"), "{records}");
}

#[test]
fn a_session_is_signalled_and_ended_with_all_its_jobs() {
    let house = house();
    let mut agent = agent(&house);
    let mark = "7064.25";
    let id = spawn(&mut agent, json!({}));
    send(&mut agent, &id, &format!("sleep {mark} & setsid sleep {mark} & sleep {mark}"));
    wait_until(|| processes::with_argument(mark).len() == 3);
    let kill = |agent: &mut Agent, more: Value| {
        let mut arguments = json!({ "session_id": id });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        text(&agent.call("session_kill", arguments))
    };
    assert!(
        kill(&mut agent, json!({ "signal_name": "NONE" })).starts_with("[ERROR: unknown signal")
    );
    let sent = kill(&mut agent, json!({ "signal_name": "SIGWINCH", "close": false }));
    assert_eq!(sent, format!("sent SIGWINCH to {id}"));
    assert_eq!(kill(&mut agent, json!({})), format!("killed and closed {id}"));
    wait_until(|| processes::with_argument(mark).is_empty());
    assert_eq!(kill(&mut agent, json!({})), "[ERROR: unknown session; session_list names yours]");
    assert_eq!(text(&agent.call("session_list", json!({}))), "[]");
}

#[test]
fn sessions_have_a_limit_an_end_and_an_owner() {
    let keys = |id: &str| {
        let sha256 = house::sha256(b"s");
        format!("[[auth.api-keys]]\nid = \"{id}\"\nsha256 = \"{sha256}\"\nprincipal = \"{id}\"\n")
    };
    let project = PROJECT
        .replace("idle=(duration)\"1d\"", "idle=(duration)\"10s\" lifetime=(duration)\"12s\"");
    let house = House::of(&house::bundle_of(&project));
    house.write(
        "server.toml",
        format!("[processes]\nprincipal-sessions-max = 2\n{}{}", keys("op"), keys("eve")),
    );
    let web = Web::start(&house, &["--config", "server.toml", "--audit", "audit.jsonl"]);
    let call = |id: &str, tool: &str, arguments: Value| {
        let request =
            Request::modern("tools/call", json!({ "name": tool, "arguments": arguments }));
        let answer = web.send(&request.with("Authorization", &format!("Bearer rk_{id}_s"))).json();
        text(&answer["result"])
    };
    let started = call("op", "shell_spawn", json!({ "command": "sleep 7065.25" }));
    let id = started.split(' ').nth(1).expect("an id").to_owned();
    assert_eq!(call("eve", "session_list", json!({})), "[]");
    for (tool, more) in [
        ("session_recv", json!({})),
        ("session_send", json!({ "data": "x" })),
        ("session_kill", json!({})),
    ] {
        let mut arguments = json!({ "session_id": id });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(
            call("eve", tool, arguments),
            "[ERROR: unknown session; session_list names yours]",
            "{tool}"
        );
    }
    assert!(
        call("op", "shell_spawn", json!({ "command": "sleep 7065.25" })).starts_with("session ")
    );
    let full = call("op", "shell_spawn", json!({ "command": "sleep 7065.25" }));
    assert!(full.starts_with("[ERROR: the limit of 2 of your sessions"), "{full}");
    assert!(
        call("eve", "shell_spawn", json!({ "command": "sleep 7065.25" })).starts_with("session ")
    );
    let full = call("eve", "shell_spawn", json!({ "command": "sleep 7065.25" }));
    assert!(full.starts_with("[ERROR: the limit of 3 sessions of this server"), "{full}");
    // Their time ends, whether somebody asks for them or not.
    wait_until(|| processes::with_argument("7065.25").is_empty());
}

#[test]
fn a_new_bundle_ends_the_sessions_that_it_would_refuse() {
    let house = house();
    let mut agent = agent(&house);
    let mark = "7066.25";
    spawn(&mut agent, json!({ "command": format!("sleep {mark}") }));
    wait_until(|| processes::with_argument(mark).len() == 1);
    let stricter =
        PROJECT.replace("epoch=1", "epoch=2").replace("policy open {", "policy readonly {");
    house.replace(&house::bundle_of(&stricter));
    wait_until(|| processes::with_argument(mark).is_empty());
    wait_until(|| house.read("audit.jsonl").contains("\"session:ended\""));
}
