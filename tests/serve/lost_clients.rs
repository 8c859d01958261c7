//! Clients that leave while their calls run: each call is ended with its processes, and recorded.

use std::io::{BufRead as _, Write as _};

use harness::Process;
use serde_json::{Value, json};

use super::agent::{Agent, PROTOCOLS, text};
use super::audit_kept::verify;
use super::crew::Crew;
use super::house::House;
use super::processes::with_argument;
use super::server::{command, modern, wait_until};
use super::tool_reference::{AS_OPERATOR, house};
use super::web::{Request, Web};

/// A call that runs for longer than any test waits, with a process apart.
fn long(mark: &str, first: &str) -> Value {
    let command = format!("{first}setsid sleep {mark} & sleep {mark}");
    json!({ "name": "shell_exec", "arguments": { "command": command, "timeout": 900 } })
}

/// Asserts that the calls of a house were all ended by the loss of their clients, and are in an intact
/// chain.
fn assert_cancelled(house: &House, calls: usize) {
    let records: Vec<Value> = house
        .read("audit.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a record"))
        .filter(|record: &Value| record["tool"] == "shell_exec" && record["action"] != "begun")
        .collect();
    assert_eq!(records.len(), calls, "{records:?}");
    for record in records {
        assert_eq!((&record["action"], &record["exit_code"]), (&json!("cancelled"), &Value::Null));
    }
    let (code, said) = verify(house, "audit.jsonl");
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_client_that_closes_its_pipes_ends_its_calls() {
    for (number, (closes_input, closes_output)) in
        [(false, true), (true, true), (true, false)].into_iter().enumerate()
    {
        let mark = format!("7071.{number}");
        let house = house("open", "");
        house.write("server.toml", "[limits]\ndrain-s-max = 1\n");
        let mut start = command(&house, AS_OPERATOR);
        start.args(["--stdio", "--config", "server.toml"]);
        let mut server = Process::start(start);
        let (mut input, output) = (server.stdin(), server.stdout());
        for (id, first) in [(1, ""), (2, "rm -f nothing; ")] {
            let params = modern(long(&mark, first));
            let call =
                json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
            writeln!(input.as_mut().expect("a pipe"), "{call}").expect("it reads");
        }
        wait_until(|| with_argument(&mark).len() == 4);
        let output = (!closes_output).then_some(output);
        input = input.filter(|_| !closes_input);
        wait_until(|| with_argument(&mark).is_empty());
        // A client without an end of its own cannot be answered any more.
        let ended = server.wait();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        drop((input, output));
        assert_cancelled(&house, 2);
    }
}

#[test]
fn a_cancelled_call_ends_its_processes() {
    let house = house("open", "");
    for (number, protocol) in PROTOCOLS.into_iter().enumerate() {
        let mark = format!("7072.{number}");
        let mut agent = Agent::with(&house, protocol, AS_OPERATOR);
        let id = agent.request_id("shell_exec", long(&mark, "")["arguments"].clone());
        wait_until(|| with_argument(&mark).len() == 2);
        let params = json!({ "requestId": id });
        let cancel =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        agent.client.send(&cancel);
        wait_until(|| with_argument(&mark).is_empty());
        assert_eq!(agent.client.end().code, Some(0));
    }
    assert_cancelled(&house, 2);
}

/// A server over HTTP for the one caller of a crew.
fn web(house: &House) -> Web {
    Web::start(house, &["--config", "server.toml", "--audit", "audit.jsonl"])
}

const KEY: &str = "Bearer rk_caller0_s";

#[test]
fn a_lost_connection_ends_its_call() {
    let house = Crew::new(1).house("");
    let web = web(&house);
    for (number, first) in ["", "rm -f nothing; "].into_iter().enumerate() {
        let mark = format!("7073.{number}");
        let call = Request::modern("tools/call", long(&mark, first));
        let connection = web.open(&call.with("Authorization", KEY));
        wait_until(|| with_argument(&mark).len() == 2);
        drop(connection);
        wait_until(|| with_argument(&mark).is_empty());
        wait_until(|| house.read("audit.jsonl").matches("\"cancelled\"").count() > 2 * number);
    }
    assert_cancelled(&house, 2);
}

/// In a session of the legacy protocol, a client may come back for the answer: a call ends with its session.
#[test]
fn the_end_of_a_session_ends_its_calls() {
    let house = Crew::new(1).house("");
    let web = web(&house);
    let session = web.begin(Some(KEY));
    let call = Request::legacy(&session, "tools/call", long("7074.1", ""));
    let connection = web.open(&call.with("Authorization", KEY));
    wait_until(|| with_argument("7074.1").len() == 2);
    drop(connection);
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert_eq!(with_argument("7074.1").len(), 2, "it goes on");
    let end = Request::new("DELETE", "/mcp").with("Mcp-Session-Id", &session);
    assert_eq!(web.send(&end.with("Authorization", KEY)).status, 204);
    wait_until(|| with_argument("7074.1").is_empty());
    wait_until(|| house.read("audit.jsonl").contains("\"cancelled\""));
    assert_cancelled(&house, 1);
}

/// The stream of a call has ids of its events, and with the last of them another request goes on with it.
#[test]
fn a_client_of_a_session_comes_back_for_its_answer() {
    let house = Crew::new(1).house("");
    let web = web(&house);
    let session = web.begin(Some(KEY));
    let call = json!({ "name": "shell_exec", "arguments": { "command": "sleep 2; echo done" } });
    let call = Request::legacy(&session, "tools/call", call).with("Authorization", KEY);
    let mut connection = web.open(&call);
    let id = loop {
        let mut line = String::new();
        assert!(
            connection.read_line(&mut line).expect("an event in time") > 0,
            "no event has an id"
        );
        if let Some(id) = line.strip_prefix("id:") {
            break id.trim().to_owned();
        }
    };
    drop(connection);
    let again = Request::new("GET", "/mcp")
        .with("Accept", "text/event-stream")
        .with("Mcp-Session-Id", &session)
        .with("Last-Event-ID", &id)
        .with("Authorization", KEY);
    let answer = web.listen(&again).next();
    assert_eq!(text(&answer["result"]), "[exit 0]\ndone\n", "{answer}");
}
