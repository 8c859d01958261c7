//! HTTP: the paths of the server, and which requests are rejected.

use harness::Process;
use serde_json::json;

use super::house::{self, House};
use super::server::{LEGACY, MODERN, bare, modern};
use super::web::{Request, Web};

#[test]
fn both_protocols_are_answered_at_one_place() {
    let web = Web::start(&House::new(), &[]);
    let params = json!({ "name": "deploy", "arguments": { "service": "door" } });

    let answer = web.send(&Request::modern("prompts/get", params.clone()));
    assert_eq!(answer.status, 200, "{answer:?}");
    let result = &answer.json()["result"];
    assert_eq!(result["messages"][0]["content"]["text"], "Deploy door to staging.");
    assert_eq!(answer.header("mcp-session-id"), "");

    let session = web.begin(None);
    let answer = web.send(&Request::legacy(&session, "prompts/get", params));
    let result = &answer.json()["result"];
    assert_eq!(result["messages"][0]["content"]["text"], "Deploy door to staging.");
}

#[test]
fn the_configuration_alone_makes_a_server() {
    let house = House::new();
    house.write("server.toml", "listen = \"127.0.0.1:0\"\ntrust = \"trust.toml\"\n");
    let command = bare(&house, &["house.relay", "--config", "server.toml"]);
    let log = Process::start(command).hear("serving sha256:");
    assert!(log.contains("http://127.0.0.1:"), "{log}");
}

#[test]
fn a_server_is_discovered() {
    let web = Web::start(&House::new(), &[]);
    let answer = web.send(&Request::modern("server/discover", json!({})));
    let result = &answer.json()["result"];
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "house");
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(60_000), &json!("public")));
}

#[test]
fn health_needs_no_authentication() {
    let web = Web::start(&House::new(), &["--audit", "none"]);
    let alive = web.send(&Request::new("GET", "/healthz").with("Host", "anything"));
    assert_eq!((alive.status, alive.body.as_str()), (200, "alive\n"));
    let ready = web.get("/readyz");
    assert_eq!(ready.status, 200);
    assert_eq!(
        ready.json(),
        json!({
            "format_version": 1,
            "state": "ready",
            "project": "house",
            "version": "4.2.0",
            "digest": house::digest(&house::bundle(1, "Note:")),
            "epoch": 1,
            "bundle": "verified",
            "audit": "off",
            "last_reload_error": null,
        })
    );
}

#[test]
fn pages_of_other_origins_are_rejected() {
    let web = Web::start(&House::new(), &[]);
    for origin in ["https://evil.example", "null", "http://localhost.evil.example", "file://", "x"]
    {
        let answer = web.send(&Request::modern("prompts/list", json!({})).with("Origin", origin));
        assert_eq!(answer.status, 403, "{origin}: {answer:?}");
        assert!(answer.body.contains("allowed-origins"), "{answer:?}");
    }
    for origin in ["http://localhost:3000", "http://127.0.0.1", "https://localhost"] {
        let answer = web.send(&Request::modern("prompts/list", json!({})).with("Origin", origin));
        assert_eq!(answer.status, 200, "{origin}: {answer:?}");
    }
}

#[test]
fn another_host_is_rejected() {
    let web = Web::start(&House::new(), &[]);
    for host in ["evil.example", "127.0.0.1.evil.example", "localhost@evil.example", ""] {
        let answer = web.send(&Request::modern("prompts/list", json!({})).with("Host", host));
        assert_eq!(answer.status, 403, "{host}: {answer:?}");
    }
    let answer = web.send(&Request::modern("prompts/list", json!({})).with("Host", "evil.example"));
    assert!(answer.body.contains("`evil.example`") && answer.body.contains("allowed-hosts"));
    for host in ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:80"] {
        let answer = web.send(&Request::modern("prompts/list", json!({})).with("Host", host));
        assert_eq!(answer.status, 200, "{host}: {answer:?}");
    }
}

#[test]
fn hosts_and_origins_are_those_of_the_configuration() {
    let house = House::new();
    house.write(
        "server.toml",
        "allowed-hosts = [\"relay.example:443\"]\nallowed-origins = [\"https://app.example\"]\n",
    );
    let web = Web::start(&house, &["--config", "server.toml"]);
    let list = || Request::modern("prompts/list", json!({}));
    let status = |request: Request| web.send(&request).status;
    assert_eq!(status(list()), 403);
    assert_eq!(status(list().with("Host", "relay.example:443")), 200);
    assert_eq!(status(list().with("Host", "relay.example:80")), 403);
    let from = |origin| list().with("Host", "relay.example:443").with("Origin", origin);
    assert_eq!(status(from("https://app.example")), 200);
    assert_eq!(status(from("https://app.example:444")), 403);
    assert_eq!(status(from("http://localhost")), 403);
}

#[test]
fn a_body_over_the_limit_is_rejected() {
    let house = House::new();
    house.write("server.toml", "[limits]\nbody-bytes-max = 2000\n");
    let web = Web::start(&house, &["--config", "server.toml"]);
    let note = |length: usize| {
        let arguments = json!({ "arguments": "x".repeat(length) });
        Request::modern("prompts/get", json!({ "name": "note", "arguments": arguments }))
    };
    assert_eq!(web.send(&note(100)).status, 200);
    assert_eq!(web.send(&note(2000)).status, 413);
}

#[test]
fn headers_that_contradict_the_body_are_rejected() {
    let web = Web::start(&House::new(), &[]);
    let get = || Request::modern("prompts/get", json!({ "name": "note" }));
    let contradictions = [
        get().with("Mcp-Method", "prompts/list"),
        get().with("Mcp-Name", "deploy"),
        get().with("MCP-Protocol-Version", LEGACY),
    ];
    for request in contradictions {
        let answer = web.send(&request);
        assert_eq!(answer.status, 400, "{answer:?}");
        assert_eq!(answer.json()["error"]["code"], -32020, "{answer:?}");
    }
    assert_eq!(web.send(&get()).status, 200);
}

#[test]
fn methods_outside_the_protocol_are_rejected() {
    let web = Web::start(&House::new(), &[]);
    let status = |request: Request| web.send(&request).status;
    assert_eq!(status(Request::new("GET", "/")), 404);
    assert_eq!(status(Request::new("GET", "/mcp/more")), 404);
    assert_eq!(status(Request::new("POST", "/healthz")), 405);
    assert_eq!(status(Request::new("PUT", "/mcp")), 405);
    let listen = || Request::new("GET", "/mcp").with("Accept", "text/event-stream");
    assert_eq!(status(listen().with("MCP-Protocol-Version", MODERN)), 405);
    assert_eq!(status(Request::new("DELETE", "/mcp").with("MCP-Protocol-Version", MODERN)), 405);
    // In the legacy protocol both need a session.
    assert_eq!(status(listen()), 400);
    assert_eq!(status(listen().with("Mcp-Session-Id", "unknown")), 404);
    assert_eq!(status(Request::legacy("unknown", "ping", json!({}))), 404);
    let unknown = web.send(&Request::modern("moon/land", json!({})));
    assert_eq!((unknown.status, &unknown.json()["error"]["code"]), (404, &json!(-32601)));
}

#[test]
fn bodies_that_are_not_messages_are_rejected() {
    let web = Web::start(&House::new(), &[]);
    let list = || Request::modern("prompts/list", json!({}));
    let status = |request: Request| web.send(&request).status;
    assert_eq!(status(list().with("Content-Type", "text/plain")), 415);
    assert_eq!(status(list().with("Accept", "text/html")), 406);
    let garbage = ["", "{", "[]", "null", "{\"jsonrpc\":\"2.0\"}", &"[".repeat(100_000)];
    for body in garbage {
        let status = status(list().body(body));
        assert!((400..500).contains(&status), "{status}");
    }
    assert!((400..500).contains(&status(list().body(b"\xff\xfe\0".to_vec()))));
    assert_eq!(status(list()), 200);
}

#[test]
fn parameters_of_a_wrong_form_are_answered_with_their_code() {
    let web = Web::start(&House::new(), &[]);
    let session = web.begin(None);
    for (method, params) in [
        ("prompts/get", json!({ "name": 7 })),
        ("prompts/get", json!({ "name": "note", "arguments": [] })),
        ("resources/read", json!({})),
        ("tools/call", json!({ "name": "x", "arguments": "y" })),
    ] {
        let modern = Request::modern(method, params.clone());
        let legacy = Request::legacy(&session, method, params);
        for request in [modern, legacy] {
            let answer = web.send(&request);
            assert_eq!((answer.status, &answer.json()["error"]["code"]), (200, &json!(-32602)));
        }
    }
}

#[test]
fn a_body_that_is_not_json_or_no_message_is_answered_with_its_code() {
    let web = Web::start(&House::new(), &[]);
    let session = web.begin(None);
    let answer = |request: Request, body: &[u8]| {
        let answer = web.send(&request.body(body));
        (answer.status, answer.header("content-type").to_owned(), answer.json())
    };
    let cases: [(&[u8], i64); 8] = [
        (b"", -32700),
        (b"{", -32700),
        (b"hello", -32700),
        (b"\xff\xfe\0", -32700),
        (b"{} {}", -32700),
        (b"[]", -32600),
        (b"null", -32600),
        (b"{\"jsonrpc\":\"2.0\"}", -32600),
    ];
    for (body, code) in cases {
        let modern = Request::modern("prompts/list", json!({}));
        let legacy = Request::legacy(&session, "prompts/list", json!({}));
        for request in [modern, legacy] {
            let (status, kind, json) = answer(request, body);
            assert_eq!((status, kind.as_str()), (400, "application/json"), "{json}");
            assert_eq!((&json["error"]["code"], &json["id"]), (&json!(code), &json!(null)));
        }
    }
}

#[test]
fn a_request_of_the_modern_protocol_needs_its_meta() {
    let web = Web::start(&House::new(), &[]);
    let mut params = modern(json!({}));
    params["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "prompts/list", "params": params });
    let request = Request::message(&message)
        .with("MCP-Protocol-Version", MODERN)
        .with("Mcp-Method", "prompts/list");
    let answer = web.send(&request);
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32602)));
}

#[test]
fn a_stop_ends_open_streams() {
    let house = House::new();
    let mut web = Web::start(&house, &[]);
    let session = web.begin(None);
    let listen = Request::new("GET", "/mcp")
        .with("Accept", "text/event-stream")
        .with("MCP-Protocol-Version", LEGACY)
        .with("Mcp-Session-Id", &session);
    let mut events = web.listen(&listen);
    web.server.signal("TERM");
    events.ends();
    assert_eq!(web.server.wait().code, Some(0));
}

#[test]
fn a_head_over_the_limit_is_rejected() {
    let web = Web::start(&House::new(), &[]);
    let long = "x".repeat(100_000);
    let answer = web.send(&Request::modern("prompts/list", json!({})).with("X-Long", &long));
    assert_eq!(answer.status, 431);
    let many = |count: usize| {
        let fields = (0..count).map(|number| format!("X-{number}: 1\r\n")).collect::<String>();
        let head = format!("GET /healthz HTTP/1.1\r\nConnection: close\r\n{fields}\r\n");
        web.raw(head.as_bytes())
    };
    assert!(many(99).starts_with("HTTP/1.1 200 "));
    assert!(many(100).starts_with("HTTP/1.1 431 "));
}

#[test]
fn the_limit_of_a_head_holds_to_the_byte() {
    let house = House::new();
    house.write("server.toml", "[limits]\nhead-bytes-max = 10000\n");
    let web = Web::start(&house, &["--config", "server.toml"]);
    let of = |bytes: usize| {
        let (start, end) = ("GET /healthz HTTP/1.1\r\nConnection: close\r\nX: ", "\r\n\r\n");
        let filler = "x".repeat(bytes - start.len() - end.len());
        web.raw(format!("{start}{filler}{end}").as_bytes())
    };
    assert!(of(10_000).starts_with("HTTP/1.1 200 "));
    for bytes in [10_001, 12_000, 15_000, 19_000, 30_000] {
        // A connection that is closed with unread bytes may lose its answer.
        let answer = of(bytes);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431 "), "{bytes}: {answer}");
    }
}

#[test]
fn a_repeated_header_is_rejected() {
    let web = Web::start(&House::new(), &[]);
    let (host, other) = (web.address.clone(), "evil.example");
    for (first, second) in [(host.as_str(), other), (other, host.as_str())] {
        let head = format!(
            "GET /mcp HTTP/1.1\r\nHost: {first}\r\nHost: {second}\r\nConnection: close\r\n\r\n"
        );
        let answer = web.raw(head.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    }
    let allowed = "http://localhost";
    for (first, second) in
        [(allowed, "https://evil.example"), ("https://evil.example", allowed), (allowed, allowed)]
    {
        let head = format!(
            "GET /mcp HTTP/1.1\r\nHost: {host}\r\nOrigin: {first}\r\nOrigin: {second}\r\nConnection: close\r\n\r\n"
        );
        let answer = web.raw(head.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    }
}

#[test]
fn a_connection_that_says_nothing_is_closed() {
    let house = House::new();
    house.write("server.toml", "[limits]\nhead-s-max = 1\n");
    let web = Web::start(&house, &["--config", "server.toml"]);
    for half in ["", "GET /healthz HTTP/1.1\r\nHos"] {
        let answer = web.raw(half.as_bytes());
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
    }
    assert_eq!(web.get("/healthz").status, 200);
}

#[test]
fn a_stop_does_not_wait_for_a_body_that_never_comes() {
    let house = House::new();
    house.write("server.toml", "[limits]\ndrain-s-max = 1\n");
    let mut web = Web::start(&house, &["--config", "server.toml"]);
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Accept: application/json, text/event-stream\r\nContent-Length: 100\r\n\r\n{";
    let stuck = web.hold(head.as_bytes());
    web.server.signal("TERM");
    assert_eq!(web.server.wait().code, Some(0));
    drop(stuck);
}

#[test]
fn many_clients_at_once_are_answered_and_recorded() {
    let house = House::new();
    let web = Web::start(&house, &["--audit", "audit.jsonl"]);
    std::thread::scope(|scope| {
        for client in 0..4 {
            let web = &web;
            scope.spawn(move || {
                for number in 0..50 {
                    let text = format!("{client}-{number}");
                    let arguments = json!({ "arguments": text });
                    let params = json!({ "name": "note", "arguments": arguments });
                    let answer = web.send(&Request::modern("prompts/get", params)).json();
                    let content = &answer["result"]["messages"][0]["content"];
                    assert_eq!(content["text"], format!("Note: {text}"));
                }
            });
        }
    });
    let log = house.read("audit.jsonl");
    assert_eq!(log.lines().count(), 200);
    assert!(log.lines().all(|line| line.starts_with("{\"ts\":") && line.ends_with('}')));
}
