//! Other spellings of a URI or a text find what they mean.

use serde_json::{Value, json};

use super::house::{self, House};
use super::server::Client;

const PROJECT: &str = r#"
project house epoch=1
prompts {
    prompt drink template=#true { arg kind required=#true { one-of "caf\u{e9}" tea }; arg size default=small { one-of small large }; text "A {{ size }} {{ kind }}." }
    prompt empty { text "X" }
}
resources {
    resource "relay://docs/caf\u{e9}" { text "Coffee." }
    resource "https://example.com/Doc/~a" { text "Doc." }
    resource "https://example.com/rooms/{room}" template=#true { arg room; text "Room {{ room }}." }
}
"#;

fn served() -> (House, Client) {
    let house = House::of(&house::bundle_of(PROJECT));
    let client = Client::legacy(&house, &["--audit", "audit.jsonl"]);
    (house, client)
}

#[test]
fn equivalent_uris_are_one_resource() {
    let (house, mut client) = served();
    for (uri, text, label) in [
        ("relay://docs/caf%C3%A9", "Coffee.", "relay://docs/café"),
        ("relay://docs/caf%c3%a9", "Coffee.", "relay://docs/café"),
        ("RELAY://DOCS/cafe\u{301}", "Coffee.", "relay://docs/café"),
        ("relay://docs/x/../caf%C3%A9", "Coffee.", "relay://docs/café"),
        ("HTTPS://Example.COM/Doc/%7Ea", "Doc.", "https://example.com/Doc/~a"),
        ("https://EXAMPLE.com/rooms/./attic", "Room attic.", "https://example.com/rooms/{room}"),
    ] {
        let result = client.get("resources/read", json!({ "uri": uri }));
        assert_eq!(result["contents"][0]["text"], text, "{uri}");
        let log = house.read("audit.jsonl");
        let record: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
        assert_eq!(record["tool"], format!("resource:{label}"), "{uri}");
    }
    // What RFC 3986 tells apart stays apart.
    for other in ["https://example.com/doc/~a", "https://example.com/Doc%2F~a", "relay://docs/cafe"]
    {
        assert_eq!(client.refused("resources/read", json!({ "uri": other })).0, -32002, "{other}");
    }
}

#[test]
fn a_choice_is_found_decomposed_and_recorded_as_the_project_writes_it() {
    let (house, mut client) = served();
    for kind in ["caf\u{e9}", "cafe\u{301}"] {
        let arguments = json!({ "kind": kind, "size": null });
        let params = json!({ "name": "drink", "arguments": arguments });
        let result = client.get("prompts/get", params);
        assert_eq!(result["messages"][0]["content"]["text"], "A small caf\u{e9}.");
    }
    let log = house.read("audit.jsonl");
    assert_eq!(log.matches("\"kind\":\"caf\u{e9}\"").count(), 2, "{log}");
}

#[test]
fn an_empty_cursor_is_the_first_page() {
    let (_house, mut client) = served();
    for list in ["prompts", "resources"] {
        let first = client.get(&format!("{list}/list"), json!({}));
        assert_eq!(client.get(&format!("{list}/list"), json!({ "cursor": "" })), first);
    }
}
