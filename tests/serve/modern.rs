//! Clients of the stateless protocol, on standard input and output.

use serde_json::{Value, json};

use super::house::{CHECKLIST, House};
use super::server::{Client, MODERN, modern};

#[test]
fn the_first_line_may_be_a_discovery() {
    let mut client = Client::start(&House::new(), &[]);
    let result = client.get("server/discover", modern(json!({})));
    let versions = result["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(MODERN)), "{result}");
    assert_eq!(result["instructions"], "Read `deploy` before you touch house.");
    assert_eq!(result["capabilities"]["prompts"], json!({ "listChanged": true }));
    assert_eq!(
        server_info(&result),
        json!({ "name": "house", "title": "The house", "version": "4.2.0" })
    );
    assert_cached(&result);
}

fn server_info(result: &Value) -> Value {
    result["_meta"]["io.modelcontextprotocol/serverInfo"].clone()
}

fn assert_cached(result: &Value) {
    assert_eq!(result["ttlMs"], 60_000, "{result}");
    assert_eq!(result["cacheScope"], "public", "{result}");
}

#[test]
fn lists_and_reads_say_how_long_they_hold() {
    let mut client = Client::start(&House::new(), &[]);
    for method in ["prompts/list", "resources/list", "resources/templates/list", "tools/list"] {
        let result = client.get(method, modern(json!({})));
        assert_cached(&result);
        assert_eq!(server_info(&result)["name"], "house", "{method}: {result}");
    }
    let result = client.get("resources/read", modern(json!({ "uri": "relay://checklist" })));
    assert_cached(&result);
    assert_eq!(result["contents"][0]["text"], CHECKLIST);
}

#[test]
fn a_prompt_is_got_without_a_handshake() {
    let mut client = Client::start(&House::new(), &[]);
    let params = json!({ "name": "deploy", "arguments": { "service": "door" } });
    let result = client.get("prompts/get", modern(params));
    assert_eq!(result["messages"][0]["content"]["text"], "Deploy door to staging.");
    assert_eq!(result["resultType"], "complete", "{result}");
    assert_eq!(server_info(&result)["name"], "house");
}

#[test]
fn an_unknown_resource_is_a_wrong_parameter() {
    let mut client = Client::start(&House::new(), &[]);
    let answer = client.ask("resources/read", modern(json!({ "uri": "relay://nothing" })));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert_eq!(answer["error"]["data"], json!({ "uri": "relay://nothing" }));
}

#[test]
fn a_request_without_its_version_is_rejected() {
    let mut client = Client::start(&House::new(), &[]);
    client.get("server/discover", modern(json!({})));
    let mut params = modern(json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("1999-01-01");
    let answer = client.ask("prompts/list", params);
    assert_eq!(answer["error"]["code"], -32022, "{answer}");
}

#[test]
fn methods_that_the_modern_protocol_dropped_are_unknown() {
    let mut client = Client::start(&House::new(), &[]);
    // Before the first request decides it, the protocol is open, and a ping is answered.
    client.get("prompts/list", modern(json!({})));
    for method in ["ping", "resources/subscribe"] {
        let answer = client.ask(method, modern(json!({ "uri": "relay://checklist" })));
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
}
