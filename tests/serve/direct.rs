//! Requests for prompts in their usual form are answered without rmcp, and all others by it. Over HTTP an
//! `Accept` in another order makes a request rmcp's, and on standard input a further member does. Each is
//! sent in both forms: the answers and the records are the same.

use serde_json::{Value, json};

use super::auth::{config, key};
use super::house::House;
use super::server::{Client, MODERN, initialize_params, modern};
use super::web::{Answer, Request, Web};

const ANN: &str = "Bearer rk_ann_secret-of-ann";
/// What clients send, and the same for rmcp alone.
const ACCEPTS: [&str; 2] =
    ["application/json, text/event-stream", "text/event-stream, application/json"];

/// Sends a request in both forms and compares all that can be seen of them.
pub(super) fn compared(
    house: &House,
    web: &Web,
    what: &str,
    request: impl Fn() -> Request,
) -> Answer {
    let [(usual, records), (other, others)] = ACCEPTS.map(|accept| {
        let before = house.read("audit.jsonl").lines().count();
        let answer = web.send(&request().with("Authorization", ANN).with("Accept", accept));
        (answer, records(house, before))
    });
    assert_eq!((usual.status, &usual.body), (other.status, &other.body), "{what}");
    for name in ["content-type", "content-length", "transfer-encoding", "vary", "mcp-session-id"] {
        assert_eq!(usual.headers(name), other.headers(name), "{what}: {name}");
    }
    assert_eq!(records, others, "{what}");
    usual
}

/// Returns the records after the first ones, without time and place in the chain.
fn records(house: &House, before: usize) -> Vec<Value> {
    let log = house.read("audit.jsonl");
    let records = log.lines().skip(before).map(|line| {
        let mut record: Value = serde_json::from_str(line).expect("JSON");
        let members = record.as_object_mut().expect("an object");
        members.retain(|name, _| !["ts", "seq", "prev", "chain"].contains(&name.as_str()));
        record
    });
    records.collect()
}

/// The text of a request with this id, these parameters and these further members.
fn text(id: &str, params: &str, more: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"prompts/get","params":{params}{more}}}"#)
}

fn with_meta(name: &str, rest: &str) -> String {
    let meta = modern(json!({}))["_meta"].to_string();
    format!(r#"{{"name":{name},{rest}"_meta":{meta}}}"#)
}

fn started() -> (House, Web) {
    let house = House::new();
    house.write("server.toml", config(&[key("ann", "secret-of-ann", "")]));
    let web = Web::start(&house, &["--config", "server.toml", "--audit", "audit.jsonl"]);
    (house, web)
}

/// A request with this body for the prompt of this name, as its header says it.
fn request(name: &str, body: &str) -> Request {
    Request::message(&json!({}))
        .with("MCP-Protocol-Version", MODERN)
        .with("Mcp-Method", "prompts/get")
        .with("Mcp-Name", name)
        .body(body)
}

#[test]
fn prompts_are_answered_as_by_rmcp() {
    let (house, web) = started();
    let long = "x".repeat(200_000);
    for (name, arguments, is_answered) in [
        ("note", json!({ "arguments": "the light — «é» \u{2028} \"quoted\" \\" }), true),
        ("note", json!({}), true),
        ("note", Value::Null, true),
        ("note", json!({ "arguments": null }), true),
        ("note", json!({ "arguments": long }), true),
        ("show", json!({ "arguments": "it" }), true),
        ("deploy", json!({ "service": "web", "environment": "production" }), true),
        ("deploy", json!({ "service": "web", "dry-run": "true" }), true),
        ("deploy", json!({}), false),
        ("deploy", json!({ "service": "web", "environment": "elsewhere" }), false),
        ("note", json!({ "arguments": 1 }), false),
        ("note", json!({ "unknown": "x" }), false),
        ("unknown", json!({}), false),
    ] {
        let params = json!({ "name": name, "arguments": arguments });
        let what = format!("{name} {}", arguments.to_string().chars().take(80).collect::<String>());
        let answer =
            compared(&house, &web, &what, || Request::modern("prompts/get", params.clone()));
        assert_eq!(answer.json().get("result").is_some(), is_answered, "{what}: {answer:?}");
        assert_eq!(answer.status, 200, "{what}");
    }
}

#[test]
fn requests_in_another_form_are_answered_as_by_rmcp() {
    let (house, web) = started();
    let params = with_meta("\"note\"", "");
    let meta = |members: Value| {
        let mut params = modern(json!({ "name": "note" }));
        for (name, value) in members.as_object().expect("members") {
            params["_meta"][name] = value.clone();
        }
        text("1", &params.to_string(), "")
    };
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    let bodies = [
        text("\"a text\"", &params, ""),
        text("-7", &params, ""),
        text("1.0", &params, ""),
        text("1.5", &params, ""),
        text("18446744073709551615", &params, ""),
        text("null", &params, ""),
        text("[1]", &params, ""),
        text("1", &params, ",\"further\":1"),
        text("1", &params, ",\"id\":2"),
        text("1", &params, ",\"method\":\"prompts/get\""),
        text("1", &params, &format!(",\"params\":{params}")),
        text("1", &with_meta("\"note\"", "\"further\":1,"), ""),
        text("1", &with_meta("\"note\"", "\"name\":\"deploy\","), ""),
        text("1", &with_meta("\"note\"", "\"arguments\":[],"), ""),
        text(
            "1",
            &with_meta("\"note\"", "\"arguments\":{\"arguments\":\"a\",\"arguments\":\"b\"},"),
            "",
        ),
        text("1", &with_meta("\"note\"", "\"requestState\":\"x\","), ""),
        text("1", &with_meta("\"n\\u006fte\"", ""), ""),
        text("1", &with_meta("7", ""), ""),
        text("1", r#"{"name":"note"}"#, ""),
        text("1", r#"{"name":"note","_meta":null}"#, ""),
        text("1", "[]", ""),
        text("1", &params, "").replace("2.0", "1.0"),
        text("1", &params, "").replace("prompts/get", "prompts\\/get"),
        text("1", &params, "").replace("prompts/get", "prompts/list"),
        text("1", &params, "") + " x",
        text("1", &params, "") + "\n",
        format!("\u{feff}{}", text("1", &params, "")),
        format!("[{}]", text("1", &params, "")),
        text("1", &params, "").replace("\"id\":1,", ""),
        meta(json!({ "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" })),
        meta(json!({ "traceparent": 1, "progressToken": "p", "further": { "a": [1] } })),
        meta(json!({ version: "2025-06-18" })),
        meta(json!({ version: "2099-01-01" })),
        meta(json!({ version: 1 })),
        meta(json!({ capabilities: null })),
        meta(json!({ capabilities: [] })),
        meta(json!({ capabilities: { "elicitation": {}, "further": 1 } })),
        meta(json!({ "io.modelcontextprotocol/clientInfo": 1 })),
    ];
    for body in &bodies {
        compared(&house, &web, body, || request("note", body));
    }
    let body = text("1", &params, "");
    let headers = [
        ("Mcp-Name", "deploy"),
        ("Mcp-Name", "=?base64?bm90ZQ==?="),
        ("Mcp-Name", "=?base64?x?="),
        ("Mcp-Name", ""),
        ("Mcp-Method", "prompts/list"),
        ("Mcp-Method", "Prompts/Get"),
        ("MCP-Protocol-Version", "2025-06-18"),
        ("MCP-Protocol-Version", "2099-01-01"),
        ("MCP-Protocol-Version", ""),
        ("Content-Type", "application/json; charset=utf-8"),
        ("Content-Type", "text/plain"),
        ("Mcp-Session-Id", "unknown"),
        ("Origin", "http://localhost"),
    ];
    for (name, value) in headers {
        let what = format!("{name}: {value}");
        compared(&house, &web, &what, || request("note", &body).with(name, value));
    }
    // The name of a prompt that looks like one in base64, or has characters that no header has.
    for name in ["=?base64?bm90ZQ==?=", "note\u{e9}", " note"] {
        let body = text("1", &with_meta(&json!(name).to_string(), ""), "");
        compared(&house, &web, name, || request(name, &body));
    }
}

#[test]
fn each_repeated_header_is_rejected() {
    let (house, web) = started();
    let body = text("1", &with_meta("\"note\"", ""), "");
    for repeated in
        ["Mcp-Name: note", "Mcp-Method: prompts/get", "MCP-Protocol-Version: 2026-07-28"]
    {
        // A value with a line end makes a header of its own.
        let answer = compared(&house, &web, repeated, || {
            request("note", &body).with("X-Other", &format!("1\r\n{repeated}"))
        });
        let is_version = repeated.starts_with("MCP");
        assert_eq!(answer.status, if is_version { 200 } else { 400 }, "{repeated}: {answer:?}");
    }
}

/// Sends a request in both forms to a server on standard input and compares the answers and the records.
pub(super) fn compared_lines(
    house: &House,
    client: &mut Client,
    [usual, other]: [&str; 2],
) -> Value {
    let [(answer, records), (by_rmcp, others)] = [usual, other].map(|line| {
        let before = house.read("audit.jsonl").lines().count();
        client.write(format!("{line}\n").as_bytes());
        let answer = client.next_message().expect("an answer");
        (answer, records(house, before))
    });
    // As texts: the order of the members counts too.
    assert_eq!(answer.to_string(), by_rmcp.to_string(), "{usual}");
    assert_eq!(records, others, "{usual}");
    answer
}

/// Parameters of `prompts/get`, and whether they have an answer without an error.
fn asked() -> Vec<(Value, bool)> {
    vec![
        (
            json!({ "name": "note", "arguments": { "arguments": "the «light» \u{2028} \"x\"" } }),
            true,
        ),
        (json!({ "name": "note", "arguments": {} }), true),
        (json!({ "name": "note", "arguments": null }), true),
        (json!({ "name": "note" }), true),
        (json!({ "name": "note", "arguments": { "arguments": "x".repeat(200_000) } }), true),
        (json!({ "name": "deploy", "arguments": { "service": "web" } }), true),
        (json!({ "name": "deploy", "arguments": { "service": "web", "environment": "x" } }), false),
        (json!({ "name": "deploy" }), false),
        (json!({ "name": "note", "arguments": { "arguments": 1 } }), false),
        (json!({ "name": "unknown" }), false),
        (json!({ "name": "" }), false),
    ]
}

fn line(params: &Value) -> String {
    text("7", &params.to_string(), "")
}

#[test]
fn prompts_of_a_session_are_answered_as_by_rmcp() {
    let house = House::new();
    let mut client = Client::legacy(&house, &["--audit", "audit.jsonl"]);
    for (params, is_answered) in asked() {
        let mut other = params.clone();
        other["_meta"] = json!({});
        let answer = compared_lines(&house, &mut client, [&line(&params), &line(&other)]);
        assert_eq!(answer.get("result").is_some(), is_answered, "{params}: {answer}");
        assert_eq!(answer["id"], 7);
    }
    // A session takes requests of the stateless protocol too.
    for (params, _) in asked() {
        let mut other = modern(params.clone());
        other["further"] = json!(1);
        compared_lines(&house, &mut client, [&line(&modern(params)), &line(&other)]);
    }
}

#[test]
fn prompts_of_the_stateless_protocol_are_answered_as_by_rmcp() {
    let house = House::new();
    let mut client = Client::start(&house, &["--audit", "audit.jsonl"]);
    // The first request is rmcp's: it chooses the lifecycle.
    client.get("prompts/list", modern(json!({})));
    for (params, is_answered) in asked() {
        let mut other = modern(params.clone());
        other["further"] = json!(1);
        let params = modern(params);
        let answer = compared_lines(&house, &mut client, [&line(&params), &line(&other)]);
        assert_eq!(answer.get("result").is_some(), is_answered, "{params}: {answer}");
    }
}

#[test]
fn a_request_before_initialize_is_refused_as_ever() {
    let house = House::new();
    let mut client = Client::start(&house, &[]);
    let bare = json!({ "name": "note" });
    client.write(format!("{}\n", line(&bare)).as_bytes());
    let answer = client.next_message().expect("an answer");
    assert!(answer.to_string().contains("_meta"), "{answer}");
    // After requests of the stateless protocol too: no session has begun.
    client.write(format!("{}\n", line(&modern(bare.clone()))).as_bytes());
    let answer = client.next_message().expect("an answer");
    assert!(answer.get("result").is_some(), "{answer}");
    client.write(format!("{}\n", line(&bare)).as_bytes());
    let answer = client.next_message().expect("an answer");
    assert!(answer.to_string().contains("_meta"), "{answer}");
}

#[test]
fn many_prompts_in_one_write_are_all_answered_before_the_end() {
    let house = House::new();
    let mut client = Client::start(&house, &["--audit", "audit.jsonl"]);
    let begin = json!({
        "jsonrpc": "2.0", "id": "begin", "method": "initialize",
        "params": initialize_params("2025-11-25"),
    });
    let mut lines = format!("{begin}\n");
    for id in 0..500 {
        let params = json!({ "name": "note", "arguments": { "arguments": id.to_string() } });
        lines += &text(&id.to_string(), &params.to_string(), "");
        lines.push('\n');
    }
    client.write(lines.as_bytes());
    client.close();
    let mut answered = Vec::new();
    while let Some(answer) = client.next_message() {
        assert!(answer.get("result").is_some(), "{answer}");
        answered.extend(answer["id"].as_u64());
    }
    answered.sort_unstable();
    assert_eq!(answered, (0..500).collect::<Vec<_>>());
    let served =
        house.read("audit.jsonl").lines().filter(|line| line.contains("prompt:note")).count();
    assert_eq!(served, 500);
}

#[test]
fn a_repeated_id_is_refused_while_the_first_is_in_flight() {
    let house = House::new();
    let mut client = Client::legacy(&house, &[]);
    let params = json!({ "name": "note", "arguments": { "arguments": "x" } });
    // Both lines are read before the first answer is written.
    client.write(format!("{}\n{}\n", line(&params), line(&params)).as_bytes());
    let answers = [(); 2].map(|()| client.next_message().expect("an answer"));
    let refused = answers.iter().find(|answer| answer.get("error").is_some()).expect("a refusal");
    assert_eq!(refused["id"], Value::Null, "{refused}");
    assert!(refused.to_string().contains("is in flight"), "{refused}");
    assert!(answers.iter().any(|answer| answer["id"] == 7), "{answers:?}");
}
