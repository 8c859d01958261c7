//! Requests for prompts over HTTP in the usual form are answered without rmcp, and all others by it. An
//! `Accept` in another order makes a request rmcp's, so each is sent in both forms: the answers and the
//! records are the same.

use serde_json::{Value, json};

use super::auth::{config, key};
use super::house::House;
use super::server::{MODERN, modern};
use super::web::{Answer, Request, Web};

const ANN: &str = "Bearer rk_ann_secret-of-ann";
/// What clients send, and the same for rmcp alone.
const ACCEPTS: [&str; 2] =
    ["application/json, text/event-stream", "text/event-stream, application/json"];

/// Sends a request in both forms and compares all that can be seen of them.
fn compared(house: &House, web: &Web, what: &str, request: impl Fn() -> Request) -> Answer {
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
