//! Sessions on another host: they are driven like local ones, and decided by their host.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::agent::{Agent, PROTOCOLS};
use super::house;
use super::server::wait_until;
use super::ssh::{house_of, house_with, last, web};
use super::ssh_server::{Host, USER};
use super::tool_reference::{AS_OPERATOR, operator, said};

/// Begins a session on a host and returns its id.
fn spawn(agent: &mut Agent, arguments: Value) -> String {
    let started = said(agent, "ssh_spawn", arguments);
    assert!(started.starts_with("session ssh-") && started.contains(" started ("), "{started}");
    started.split(' ').nth(1).expect("an id").to_owned()
}

fn send(agent: &mut Agent, id: &str, data: &str) -> String {
    said(agent, "session_send", json!({ "session_id": id, "data": data }))
}

fn kill(agent: &mut Agent, id: &str, signal: &str, close: bool) -> String {
    let arguments = json!({ "session_id": id, "signal_name": signal, "close": close });
    said(agent, "session_kill", arguments)
}

/// Receives until a text has come.
fn await_text(agent: &mut Agent, id: &str, wanted: &str) -> String {
    let since = Instant::now();
    let mut all = String::new();
    while !all.contains(wanted) {
        assert!(since.elapsed() < Duration::from_secs(30), "{wanted}: {all}");
        let arguments = json!({ "session_id": id, "timeout": 5 });
        all.push_str(&said(agent, "session_recv", arguments));
    }
    all
}

#[test]
fn a_shell_on_a_host_is_driven_to_its_end() {
    let host = Host::start();
    for protocol in PROTOCOLS {
        let house = house_with(&host, "");
        let mut agent = Agent::with(&house, protocol, AS_OPERATOR);
        let id = spawn(&mut agent, json!({ "host": "web", "cols": 100, "rows": 30 }));
        await_text(&mut agent, &id, "size 100x30");
        let resize = json!({ "session_id": id, "cols": 80, "rows": 25 });
        assert_eq!(said(&mut agent, "session_resize", resize), format!("resized {id} to 80x25"));
        await_text(&mut agent, &id, "size 80x25");
        assert_eq!(send(&mut agent, &id, "echo é$((1+1))"), format!("sent 16 bytes to {id}"));
        await_text(&mut agent, &id, "é2");
        let listed = said(&mut agent, "session_list", json!({}));
        let listed: Value = serde_json::from_str(&listed).expect("JSON");
        let [shown] = listed.as_array().unwrap().as_slice() else { panic!("{listed}") };
        assert_eq!((&shown["id"], &shown["kind"]), (&json!(id), &json!("ssh")), "{listed}");
        assert_eq!(
            (&shown["title"], &shown["size"]),
            (&json!("web: login shell"), &json!("80x25"))
        );
        let record = last(&house);
        assert_eq!(record["args"]["session_id"], Value::Null, "{record}");
        send(&mut agent, &id, "exit 3");
        let record = last(&house);
        assert_eq!(
            (&record["args"]["session_id"], &record["args"]["host"]),
            (&json!(id), &json!("web"))
        );
        let records = house.read("audit.jsonl");
        let spawned: Vec<Value> =
            records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let spawned = spawned.iter().rfind(|it: &&Value| it["tool"] == "ssh_spawn").unwrap();
        assert_eq!(
            (&spawned["args"]["session_id"], &spawned["args"]["host"]),
            (&json!(id), &json!("web"))
        );
        let end = await_text(&mut agent, &id, "ended");
        assert!(end.ends_with(&format!("[session {id} ended, exit=3]")), "{end}");
    }
}

#[test]
fn a_command_of_a_session_is_signalled() {
    let host = Host::start();
    let house = house_with(&host, "");
    let mut agent = operator(&house);
    let id = spawn(&mut agent, json!({ "host": "web", "command": "echo up; sleep 1000" }));
    await_text(&mut agent, &id, "up");
    let answer = kill(&mut agent, &id, "STOP", false);
    assert!(answer.starts_with("[ERROR: SSH has no such signal: send INT"), "{answer}");
    assert_eq!(kill(&mut agent, &id, "TERM", false), format!("sent SIGTERM to {id}"));
    await_text(&mut agent, &id, "exit=-15]");
    let id = spawn(&mut agent, json!({ "host": "web", "command": "trap '' TERM; echo up; cat" }));
    await_text(&mut agent, &id, "up");
    // Keys reach the jobs of the terminal, also where the host signals none.
    assert_eq!(kill(&mut agent, &id, "INT", false), format!("sent SIGINT to {id}"));
    assert_eq!(kill(&mut agent, &id, "TERM", true), format!("killed and closed {id}"));
    assert!(send(&mut agent, &id, "x").contains("unknown session"));
}

#[test]
fn a_program_that_may_run_on_is_named() {
    let host = Host::with(|settings| settings.deaf = true);
    let house = house_with(&host, "");
    let mut agent = operator(&house);
    let id =
        spawn(&mut agent, json!({ "host": "web", "command": "echo up; trap '' HUP; sleep 60" }));
    await_text(&mut agent, &id, "up");
    let answer = kill(&mut agent, &id, "TERM", true);
    assert!(answer.starts_with(&format!("killed and closed {id}; ")), "{answer}");
    assert!(answer.ends_with("so it may still run"), "{answer}");
}

#[test]
fn a_lost_connection_is_no_quiet_end() {
    let host = Host::start();
    let house = house_with(&host, "");
    let mut agent = operator(&house);
    let id = spawn(&mut agent, json!({ "host": "web", "command": "echo up; sleep 60" }));
    await_text(&mut agent, &id, "up");
    drop(host);
    let end = await_text(&mut agent, &id, "ended");
    assert!(end.contains(&format!("[session {id} ended, exit=unknown]")), "{end}");
    assert!(
        end.ends_with("[ERROR: the connection was lost, so the program may still run]"),
        "{end}"
    );
}

/// Typed text is decided with the host of its session: also by rules that name the host by its address or
/// group.
#[test]
fn typed_text_is_decided_by_its_host() {
    let (host, other) = (Host::start(), Host::start());
    let address = other.address();
    let db = format!(
        "host db address=\"{}\" port={} user={USER} {{ pin \"{}\" }}",
        address.ip(),
        address.port(),
        other.pin()
    );
    // Both have one address here, so that the alias alone tells them apart.
    let hosts = format!("hosts {{ groups edge; {}; {db} }}", web(&host, &host.pin()));
    for (selector, is_denied) in [("web", true), ("edge", true), ("db", false)] {
        let house = house_of(
            "open",
            &hosts,
            &format!("deny no-etc {{ writes \"/etc/**\"; host {selector} }}"),
        );
        host.admit(&house);
        let mut agent = operator(&house);
        let id = spawn(&mut agent, json!({ "host": "web", "command": "cat" }));
        let answer = send(&mut agent, &id, "echo x > /etc/no-such-file-of-a-test");
        assert_eq!(answer.starts_with("[DENIED"), is_denied, "{selector}: {answer}");
        let answer = send(&mut agent, &id, "echo plain");
        assert!(answer.starts_with("sent "), "{selector}: {answer}");
        kill(&mut agent, &id, "KILL", true);
    }
}

#[test]
fn sessions_on_hosts_share_the_limit_and_belong_to_their_owner() {
    let host = Host::start();
    let house = house_with(&host, "limits sessions=1");
    let mut agent = operator(&house);
    let id = spawn(&mut agent, json!({ "host": "web" }));
    let answer = said(&mut agent, "ssh_spawn", json!({ "host": "web" }));
    assert!(answer.starts_with("[ERROR: the limit of 1 sessions"), "{answer}");
    kill(&mut agent, &id, "TERM", true);
    let id = spawn(&mut agent, json!({ "host": "web" }));
    kill(&mut agent, &id, "TERM", true);
}

#[test]
fn a_session_on_a_host_is_denied_like_a_command() {
    let host = Host::start();
    let house = house_with(&host, "deny edge-is-closed { host edge }");
    let mut agent = operator(&house);
    for (name, command) in [("web", ""), ("127.0.0.1", ""), ("web", "uptime")] {
        let answer = said(&mut agent, "ssh_spawn", json!({ "host": name, "command": command }));
        assert!(answer.starts_with("[DENIED"), "{name} {command}: {answer}");
    }
    assert_eq!(host.logins(), 0);
}

#[test]
fn a_new_bundle_ends_the_sessions_that_it_would_not_begin() {
    let host = Host::start();
    let project = |epoch: u32, rule: &str| {
        house::bundle_of(&format!(
            "project fleet epoch={epoch}\ntools {{ ssh; sessions; diagnostics }}\n\
             roles {{ role operator tier=3 }}\nusers {{ user op role=operator }}\n\
             hosts {{ groups edge; {} }}\npolicy open {{ {rule} }}\n",
            web(&host, &host.pin())
        ))
    };
    let house = house::House::of(&project(1, ""));
    host.admit(&house);
    let mut agent = operator(&house);
    let id = spawn(&mut agent, json!({ "host": "web" }));
    house.replace(&project(2, "deny edge-is-closed { host web }"));
    wait_until(|| house.read("audit.jsonl").contains("\"session:ended\""));
    wait_until(|| said(&mut agent, "session_list", json!({})) == "[]");
    assert!(send(&mut agent, &id, "x").contains("unknown session"));
}

#[test]
fn a_host_that_refuses_terminals_says_so() {
    let host = Host::with(|settings| settings.no_terminals = true);
    let house = house_with(&host, "");
    let mut agent = operator(&house);
    let answer = said(&mut agent, "ssh_spawn", json!({ "host": "web", "command": "touch x" }));
    assert!(answer.starts_with("[ERROR: ") && answer.contains("terminal"), "{answer}");
    assert_eq!(host.commands(), Vec::<String>::new(), "nothing ran");
}
