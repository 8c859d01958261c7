//! Sessions of the legacy protocol over HTTP: whose they are, and how they end.

use serde_json::json;

use super::auth::{config, key};
use super::house::House;
use super::server::{LEGACY, MODERN, initialize_params};
use super::web::{Request, Web};

const ANN: &str = "Bearer rk_ann_secret-of-ann";
const BOB: &str = "Bearer rk_bob_secret-of-bob";

fn shared() -> Web {
    let house = House::new();
    house.write(
        "server.toml",
        config(&[key("ann", "secret-of-ann", ""), key("bob", "secret-of-bob", "")]),
    );
    Web::start(&house, &["--config", "server.toml"])
}

#[test]
fn a_session_belongs_to_who_began_it() {
    let web = shared();
    let session = web.begin(Some(ANN));
    let list = || Request::legacy(&session, "prompts/list", json!({}));
    let end = || Request::new("DELETE", "/mcp").with("Mcp-Session-Id", &session);
    let listen = || end_as_get(&session);
    let status = |request: Request, who| web.send(&request.with("Authorization", who)).status;
    assert_eq!(status(list(), BOB), 404);
    assert_eq!(status(listen(), BOB), 404);
    assert_eq!(status(end(), BOB), 404);
    assert_eq!(status(list(), ANN), 200);
    assert_eq!(status(end(), ANN), 204);
    assert_eq!(status(list(), ANN), 404);
}

fn end_as_get(session: &str) -> Request {
    Request::new("GET", "/mcp").with("Accept", "text/event-stream").with("Mcp-Session-Id", session)
}

#[test]
fn the_modern_protocol_gives_no_access_to_a_foreign_session() {
    let web = shared();
    let session = web.begin(Some(ANN));
    let initialize = json!({
        "jsonrpc": "2.0", "id": 9, "method": "initialize", "params": initialize_params(MODERN),
    });
    let bare = json!({ "jsonrpc": "2.0", "id": 9, "method": "prompts/list", "params": {} });
    for message in [initialize, bare] {
        for method in [None, message["method"].as_str()] {
            let request = Request::message(&message)
                .with("MCP-Protocol-Version", MODERN)
                .with("Mcp-Session-Id", &session)
                .with("Authorization", BOB);
            let request = match method {
                Some(method) => request.with("Mcp-Method", method),
                None => request,
            };
            let answer = web.send(&request);
            let other = answer.header("mcp-session-id");
            assert!(other != session, "{answer:?}");
            let failed = (400..500).contains(&answer.status);
            assert!(failed || !other.is_empty(), "{answer:?}");
        }
    }
}

#[test]
fn a_session_that_began_with_the_newest_version_goes_on() {
    let web = Web::start(&House::new(), &[]);
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params(MODERN),
    });
    let answer = web.send(&Request::message(&message).with("MCP-Protocol-Version", MODERN));
    assert_eq!(answer.json()["result"]["protocolVersion"], LEGACY, "{answer:?}");
    let session = answer.header("mcp-session-id");
    let answer = web.send(&Request::legacy(session, "prompts/list", json!({})));
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[test]
fn the_number_of_sessions_is_limited() {
    let house = House::new();
    house.write("server.toml", "[limits]\nsessions-max = 2\n");
    let web = Web::start(&house, &["--config", "server.toml"]);
    let first = web.begin(None);
    web.begin(None);
    let modern_header = Request::message(&json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params(MODERN),
    }))
    .with("MCP-Protocol-Version", MODERN);
    for request in [Request::initialize(), modern_header] {
        let answer = web.send(&request);
        assert_eq!((answer.status, answer.header("retry-after")), (503, "60"), "{answer:?}");
    }
    // The modern protocol is stateless and is answered all the same.
    assert_eq!(web.send(&Request::modern("prompts/list", json!({}))).status, 200);
    assert_eq!(
        web.send(&Request::new("DELETE", "/mcp").with("Mcp-Session-Id", &first)).status,
        204
    );
    web.begin(None);
}

#[test]
fn an_idle_session_is_closed() {
    let house = House::new();
    house.write("server.toml", "[limits]\nsession-idle-s-max = 2\n");
    let web = Web::start(&house, &["--config", "server.toml"]);
    let session = web.begin(None);
    std::thread::sleep(std::time::Duration::from_secs(4));
    assert_eq!(web.send(&Request::legacy(&session, "ping", json!({}))).status, 404);
}
