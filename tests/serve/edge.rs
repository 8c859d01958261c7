//! Requests over HTTP that pass by the handlers: their answers, and their records.

use serde_json::{Value, json};

use super::auth::{config, key};
use super::house::House;
use super::server::{Client, LEGACY, MODERN, modern};
use super::web::{Request, Web};

const ANN: &str = "Bearer rk_ann_secret-of-ann";

fn started() -> (House, Web) {
    let house = House::new();
    house.write("server.toml", config(&[key("ann", "secret-of-ann", "")]));
    let web = Web::start(&house, &["--config", "server.toml", "--audit", "audit.jsonl"]);
    (house, web)
}

/// Returns label, principal and reason of the records so far.
fn records(house: &House) -> Vec<[String; 3]> {
    let text = |record: &Value, name: &str| record[name].as_str().expect("a text").to_owned();
    let log = house.read("audit.jsonl");
    let records = log.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    records.map(|record: Value| ["tool", "principal", "rule"].map(|it| text(&record, it))).collect()
}

#[test]
fn a_request_that_is_rejected_before_its_method_is_recorded() {
    let (house, web) = started();
    let get =
        || Request::modern("prompts/get", json!({ "name": "note" })).with("Authorization", ANN);
    let bare = |message: Value| Request::message(&message).with("Authorization", ANN);
    let params = modern(json!({ "name": "note" }));
    let message = |id: Option<u32>, method: &str, params: &Value| {
        let mut message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        if let Some(id) = id {
            message["id"] = json!(id);
        }
        message
    };
    let cases = [
        (get().with("Mcp-Name", "deploy"), 400, "prompt:note"),
        (get().with("Mcp-Method", "prompts/list"), 400, "prompt:note"),
        (get().with("MCP-Protocol-Version", LEGACY), 400, "prompt:note"),
        (bare(message(Some(1), "prompts/get", &params)), 400, "prompt:note"),
        (
            bare(message(Some(1), "tools/call", &json!({ "name": "server_info" })))
                .with("MCP-Protocol-Version", MODERN)
                .with("Mcp-Method", "tools/call")
                .with("Mcp-Name", "server_info"),
            400,
            "tool:unknown",
        ),
        (
            bare(message(None, "tools/call", &modern(json!({ "name": "hunter2" }))))
                .with("MCP-Protocol-Version", MODERN)
                .with("Mcp-Method", "tools/call")
                .with("Mcp-Name", "hunter2"),
            202,
            "tool:unknown",
        ),
        (bare(message(Some(1), "prompts/get", &json!({ "name": "note" }))), 400, "prompt:note"),
        (
            bare(message(Some(1), "resources/read", &json!({ "uri": "hunter2" })))
                .with("Mcp-Session-Id", "unknown"),
            404,
            "resource:unknown",
        ),
        (get().with("Host", "hunter2.example"), 403, "request"),
        (get().with("Origin", "https://hunter2.example"), 403, "request"),
        (get().body("{"), 400, "request"),
    ];
    for (at, (request, status, label)) in cases.into_iter().enumerate() {
        let answer = web.send(&request);
        assert_eq!(answer.status, status, "{at}: {answer:?}");
        let records = records(&house);
        assert_eq!(records.len(), at + 1, "{at}: {records:?}");
        assert_eq!(records[at][..2], [label, "ann@house"], "{at}: {records:?}");
    }
    assert!(!house.read("audit.jsonl").contains("hunter2"));
    let before = records(&house).len();
    assert_eq!(web.send(&get()).status, 200);
    assert_eq!(records(&house).len(), before + 1);
}

#[test]
fn a_batch_is_rejected_by_name_and_each_part_is_recorded() {
    let (house, web) = started();
    let part = |name: &str| json!({ "jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": { "name": name } });
    let batch = json!([part("note"), { "jsonrpc": "2.0", "id": 2, "method": "ping" }, part("x")]);
    let answer = web.send(&Request::message(&batch).with("Authorization", ANN));
    let reason = "a batch of messages is not supported (only protocol 2025-03-26 has them): send each by itself";
    assert_eq!((answer.status, &answer.json()["error"]["message"]), (400, &json!(reason)));
    let labels: Vec<_> =
        records(&house).into_iter().map(|[label, _, rule]| (label, rule)).collect();
    let of = |label: &str| (label.to_owned(), reason.to_owned());
    assert_eq!(labels, [of("prompt:note"), of("prompt:unknown")]);
    let mut client = Client::legacy(&House::new(), &[]);
    client.write(format!("{batch}\n").as_bytes());
    let answer = client.next_message().expect("an answer");
    assert_eq!(answer["error"], json!({ "code": -32600, "message": reason }));
}

#[test]
fn a_wrong_initialize_names_its_member() {
    let (_house, web) = started();
    let wrong = [
        (
            json!({ "capabilities": { "experimental": { "x": true } } }),
            "`capabilities.experimental`: ",
        ),
        (json!({ "clientInfo": { "name": "t" } }), "`clientInfo`: missing field `version`"),
        (json!({ "protocolVersion": 7 }), "`protocolVersion`: "),
        (json!({ "capabilities": null }), "`capabilities`: "),
    ];
    for (members, reason) in wrong {
        let mut params = json!({
            "protocolVersion": LEGACY, "capabilities": {},
            "clientInfo": { "name": "t", "version": "1" },
        });
        for (name, value) in members.as_object().expect("members") {
            params[name] = value.clone();
        }
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let over_http = web.send(&Request::message(&message).with("Authorization", ANN));
        assert_eq!(over_http.status, 400, "{over_http:?}");
        let mut client = Client::start(&House::new(), &[]);
        client.send(&message);
        for answer in [over_http.json(), client.answer(1)] {
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32602)));
            let message = answer["error"]["message"].as_str().expect("a text");
            let start = format!("the parameters of initialize are not valid: {reason}");
            assert!(message.starts_with(&start), "{message}");
        }
    }
}

#[test]
fn ranges_of_types_and_a_byte_order_mark_are_accepted() {
    let (_house, web) = started();
    let list = || Request::modern("prompts/list", json!({})).with("Authorization", ANN);
    for (accept, status) in [
        ("*/*", 200),
        ("application/*, text/*;q=0.1", 200),
        ("text/html, */*;q=0.8", 200),
        ("application/json", 406),
        ("*/*, text/event-stream;q=0", 406),
    ] {
        assert_eq!(web.send(&list().with("Accept", accept)).status, status, "{accept}");
    }
    let message =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "prompts/list", "params": modern(json!({})) });
    let marked = list().body(format!("\u{feff}{message}"));
    assert_eq!(web.send(&marked).status, 200);
}

#[test]
fn pages_of_allowed_origins_may_ask_and_read() {
    let house = House::new();
    let page = "https://app.example.com";
    let origins = format!("allowed-origins = [\"{page}\"]\n");
    house.write("server.toml", origins + &config(&[key("ann", "secret-of-ann", "")]));
    let web = Web::start(&house, &["--config", "server.toml"]);
    let preflight = |origin: &str| {
        web.send(
            &Request::new("OPTIONS", "/mcp")
                .with("Origin", origin)
                .with("Access-Control-Request-Method", "POST")
                .with("Access-Control-Request-Headers", "authorization,mcp-param-x"),
        )
    };
    let allowed = preflight(page);
    assert_eq!(allowed.status, 204, "{allowed:?}");
    assert_eq!(allowed.header("access-control-allow-origin"), page);
    assert_eq!(allowed.header("access-control-allow-methods"), "GET, POST, DELETE");
    assert_eq!(allowed.header("access-control-allow-headers"), "authorization,mcp-param-x");
    assert_eq!(allowed.header("vary"), "Origin");
    let other = preflight("https://evil.example");
    assert_eq!((other.status, other.header("access-control-allow-origin")), (403, ""));
    let list = || Request::modern("prompts/list", json!({})).with("Origin", page);
    let read = web.send(&list().with("Authorization", ANN));
    assert_eq!((read.status, read.header("access-control-allow-origin")), (200, page));
    assert!(read.header("access-control-expose-headers").contains("Mcp-Session-Id"));
    // A page must also read why it was rejected.
    let challenged = web.send(&list());
    assert_eq!((challenged.status, challenged.header("access-control-allow-origin")), (401, page));
    // A request that names no origin is from another program than a page.
    let plain = web.send(&Request::modern("prompts/list", json!({})).with("Authorization", ANN));
    assert_eq!(plain.header("access-control-allow-origin"), "");
    assert_eq!(web.send(&Request::new("OPTIONS", "/mcp")).status, 401);
}

#[test]
fn the_host_of_an_absolute_target_counts() {
    let (_house, web) = started();
    let status = |target: &str, host: &str| {
        let head = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        web.raw(head.as_bytes()).split(' ').nth(1).map(str::to_owned)
    };
    let of = |status: &str| Some(status.to_owned());
    assert_eq!(status("http://evil.example/metrics", "127.0.0.1"), of("403"));
    assert_eq!(status("http://127.0.0.1/metrics", "evil.example"), of("403"));
    assert_eq!(status("http://127.0.0.1/metrics", "127.0.0.1"), of("401"));
}
