//! Calls of tools: what is refused, what is recorded, and the first tools themselves.

use relay_bundle::Tier;
use serde_json::{Value, json};

use super::agent::{Agent, PROTOCOLS, Protocol, error, handle_of, text};
use super::gate::{house, project};
use super::house::{self, House};
use super::server::{self, wait_until};
use super::web::{Request, Web};
use crate::bundle::sample;

#[test]
fn an_unknown_tool_is_a_wrong_parameter() {
    for protocol in PROTOCOLS {
        let mut agent = Agent::new(&house(""), protocol);
        let (code, message) = agent.refused("serverinfo", json!({}));
        assert_eq!(
            (code, message.as_str()),
            (-32602, "unknown tool `serverinfo`: tools/list names the available tools")
        );
    }
}

#[test]
fn a_tool_over_tier_0_is_denied_without_a_policy() {
    let mut contents = house::contents_of(&project(""));
    for tool in &mut contents.tools {
        tool.tier = Tier::Stateful;
    }
    let house = House::of_altered(&contents);
    let mut agent = Agent::with(&house, Protocol::Modern, &["--audit", "audit.jsonl"]);
    let denied = error(&agent.call("begin_session", json!({ "tags": ["vpn"] })));
    assert_eq!(denied, "[DENIED tier 2 (STATEFUL): no policy allows it]");
    let record: Value = serde_json::from_str(&house.read("audit.jsonl")).unwrap();
    assert_eq!((&record["tier"], &record["denied"]), (&json!(2), &json!(true)));
}

#[test]
fn a_tool_of_a_later_version_is_not_offered_blindly() {
    let mut contents = house::contents_of(&project(""));
    contents.tools[2].name = "server_call".to_owned();
    let house = House::of(&sample::sealed(&contents, &[house::SIGNER]));
    let ended = harness::run(server::command(&house, &[]));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("`server_call` is unknown here: use a newer relay-serve"));
}

#[test]
fn every_call_leaves_one_record() {
    let house = house("");
    let mut agent = Agent::with(&house, Protocol::Modern, &["--audit", "audit.jsonl"]);
    let begun = agent.call("begin_session", json!({ "tags": ["secret-plan", "vpn"] }));
    agent.call("server_info", json!({ "briefing": "junk" }));
    agent.refused("rm", json!({ "path": "/" }));
    agent.call("server_info", json!({}));
    let records = house.read("audit.jsonl");
    assert!(!records.contains("secret-plan") && !records.contains(&handle_of(&begun)), "{records}");
    let records: Vec<Value> =
        records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let tools: Vec<_> = records.iter().map(|record| &record["tool"]).collect();
    assert_eq!(tools, ["begin_session", "server_info", "tool:unknown", "server_info"]);
    let denied: Vec<_> = records.iter().map(|record| &record["denied"]).collect();
    assert_eq!(denied, [false, true, true, false]);
    assert_eq!(records[0]["prompts"], json!(["common-mistakes", "security"]));
    assert_eq!(records[0]["args"], json!({ "tags": "[2 entries]" }));
    assert_eq!(records[0]["rule"], "project.kdl:3");
    assert!(records[1]["rule"].as_str().unwrap().contains("not a briefing"));
    assert_eq!(records[2]["args"], json!({ "[unknown]": "[1 entries]" }));
    assert_eq!(records[3]["rule"], "project.kdl:7");
    assert_eq!(records[3]["prompts"], json!(["common-mistakes", "server-audit"]));
}

#[test]
fn the_audit_can_be_read_from_its_end() {
    let house = house("");
    let mut agent = Agent::with(&house, Protocol::Modern, &["--audit", "audit.jsonl"]);
    let handle = agent.begin(&["vpn"]);
    for _ in 0..3 {
        agent.call("server_info", json!({ "briefing": handle }));
    }
    agent.refused("rm", json!({}));
    let mut tail = |mut arguments: Value| {
        arguments["briefing"] = json!(handle);
        let said = text(&agent.call("audit_tail", arguments));
        let tools = said.lines().map(|line| {
            let record: Value = serde_json::from_str(line).expect("one record a line");
            record["tool"].as_str().unwrap().to_owned()
        });
        tools.collect::<Vec<_>>()
    };
    assert_eq!(
        tail(json!({})),
        ["begin_session", "server_info", "server_info", "server_info", "tool:unknown"]
    );
    assert_eq!(tail(json!({ "lines": 2 })), ["tool:unknown", "audit_tail"], "oldest first");
    assert_eq!(tail(json!({ "lines": 0 })), ["audit_tail"], "clamped to one");
    assert_eq!(tail(json!({ "tool": "server_info" })).len(), 3);
    assert_eq!(tail(json!({ "denied": true })), ["tool:unknown"]);
    assert_eq!(tail(json!({ "tier": 2 })), [""; 0]);
    assert_eq!(
        tail(json!({ "lines": 1, "tool": "tool:unknown" })),
        [""; 0],
        "filters act in the window"
    );

    let wrong = error(&agent.call("audit_tail", json!({ "lines": "five", "briefing": handle })));
    assert_eq!(wrong, "[ERROR: `lines` must be a whole number]");
}

#[test]
fn without_an_audit_there_is_nothing_to_read() {
    let mut agent = Agent::with(&house(""), Protocol::Modern, &["--audit", "none"]);
    let handle = agent.begin(&["vpn"]);
    let refused = error(&agent.call("audit_tail", json!({ "briefing": handle })));
    assert_eq!(refused, "[ERROR: this server keeps no audit]");
}

#[test]
fn a_long_tail_is_truncated_at_its_old_end_and_says_so() {
    let house = house("");
    let mut agent = Agent::with(&house, Protocol::Modern, &["--audit", "audit.jsonl"]);
    let handle = agent.begin(&["vpn"]);
    let line = house.read("audit.jsonl");
    let line = line.lines().next().unwrap();
    let numbered = (0..1000).map(|number| {
        line.replace("\"request_id\":\"", &format!("\"request_id\":\"n{number}-")) + "\n"
    });
    house.write("audit.jsonl", numbered.collect::<String>());
    let said = text(&agent.call("audit_tail", json!({ "lines": 1000, "briefing": handle })));
    assert!(said.len() < 66_000, "{}", said.len());
    assert!(said.contains("n999-") && !said.contains("n0-"));
    assert!(said.contains("[TRUNCATED - ") && said.ends_with(" shown]"));
    assert!(said.starts_with('{'), "whole lines: {}", &said[..80]);
}

/// As many records as `audit_tail` reads at most: it takes a while.
pub(super) fn long_audit(house: &House) {
    let record = json!({ "tool": "x", "tier": 0, "denied": false, "principal": "x".repeat(900) });
    house.write("audit.jsonl", format!("{record}\n").repeat((8 << 20) / 960));
}

/// The records of calls, after those that were there before; records of the server have no id.
fn calls(house: &House) -> Vec<Value> {
    let records = house.read("audit.jsonl");
    let records = records.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let is_call = |record: &Value| record["request_id"].as_str().is_some_and(|id| !id.is_empty());
    records.filter(is_call).collect()
}

#[test]
fn a_call_that_its_client_cancels_is_recorded_as_such() {
    let house = house("");
    for protocol in PROTOCOLS {
        let mut agent = Agent::with(&house, protocol, &["--audit", "audit.jsonl"]);
        let handle = agent.begin(&["vpn"]);
        long_audit(&house);
        let arguments = json!({ "briefing": handle, "tool": "y" });
        agent.cancelled("audit_tail", arguments);
        let info = agent.call("server_info", json!({ "briefing": handle }));
        assert_eq!(info["isError"], false, "the next call is answered: {info}");
        agent.client.end();
        let calls = calls(&house);
        let found: Vec<_> = calls.iter().map(|call| (&call["tool"], &call["action"])).collect();
        assert!(
            found.contains(&(&json!("audit_tail"), &json!("cancelled"))) && found.len() == 2,
            "{protocol:?}: {found:?}"
        );
        let cancelled = calls.iter().find(|call| call["action"] == "cancelled").unwrap();
        assert_eq!(
            (&cancelled["rule"], &cancelled["denied"]),
            (&json!("cancelled"), &json!(false))
        );
        assert_eq!(cancelled["output_len"], 11, "[CANCELLED]");
    }
}

#[test]
fn a_call_whose_client_disconnects_is_recorded() {
    let house = house("");
    for protocol in PROTOCOLS {
        let mut agent = Agent::with(&house, protocol, &["--audit", "audit.jsonl"]);
        let handle = agent.begin(&["vpn"]);
        long_audit(&house);
        agent.request("audit_tail", json!({ "briefing": handle }));
        let ended = agent.client.end();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let calls = calls(&house);
        assert_eq!(calls.len(), 1, "{protocol:?}: {calls:?}");
        assert_eq!(calls[0]["tool"], "audit_tail");
    }
}

#[test]
fn a_call_whose_connection_breaks_is_recorded() {
    let house = house("");
    house.write("server.toml", "[limits]\nprincipal-calls-max = 1\n");
    let web = Web::start(&house, &["--config", "server.toml", "--audit", "audit.jsonl"]);
    let call = |tool: &str, arguments: Value| {
        Request::modern("tools/call", json!({ "name": tool, "arguments": arguments }))
    };
    let begun = web.send(&call("begin_session", json!({ "tags": ["vpn"] }))).json();
    let handle = json!({ "briefing": handle_of(&begun["result"]) });
    long_audit(&house);
    let is_recorded = || calls(&house).iter().any(|record| record["tool"] == "audit_tail");
    let connection = web.open(&call("audit_tail", handle.clone()));
    // While it runs, other calls lack room.
    while !is_recorded()
        && web.send(&call("server_info", handle.clone())).json()["result"]["isError"] == false
    {}
    drop(connection);
    wait_until(is_recorded);
}

#[test]
fn a_request_whose_body_does_not_come_is_ended() {
    let house = house("");
    house.write("server.toml", "[limits]\nrequest-s-max = 1\n");
    let web = Web::start(&house, &["--config", "server.toml", "--audit", "none"]);
    let address = &web.address;
    let head = format!("POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Length: 9\r\n\r\n");
    let answer = web.raw(head.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
}

#[test]
fn the_concurrent_calls_of_a_caller_are_limited() {
    let house = house("");
    house.write("server.toml", "[limits]\nprincipal-calls-max = 1\n");
    let mut agent = Agent::with(&house, Protocol::Modern, &["--audit", "audit.jsonl"]);
    let handle = agent.begin(&["vpn"]);
    long_audit(&house);
    // Both are read before the first one ends.
    let answers = agent.twice("audit_tail", json!({ "briefing": handle }));
    let refused: Vec<_> = answers.iter().filter(|answer| answer["isError"] == true).collect();
    assert_eq!(refused.len(), 1, "{answers:?}");
    let expected =
        "[ERROR: the limit of 1 concurrent calls is reached: wait for one to end, then call again]";
    assert_eq!(text(refused[0]), expected);
    assert_eq!(calls(&house).len(), 2, "both are recorded");
}
