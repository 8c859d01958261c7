//! A bundle that takes the place of another while it is served.

use std::fs;

use serde_json::json;

use super::house::{self, House, SIGNER, trusted};
use super::server::{Client, LEGACY};
use super::web::{Request, Web};
use crate::bundle::sample;

/// The bundle's path is looked at often.
const WATCH: [&str; 2] = ["--config", "server.toml"];

/// The house with one more prompt.
fn with_more(epoch: u64) -> Vec<u8> {
    sample::sealed(&house::contents_with(epoch, "More:", "prompt zebra { text \"Z\" }"), &[SIGNER])
}

/// Waits until the new bundle answers.
fn await_note(client: &mut Client, expected: &str) {
    client.server.hear("is in force");
    assert_eq!(client.note("x"), expected);
}

fn logged(house: &House, arguments: &[&str]) -> Client {
    let mut command = super::server::command(house, arguments);
    command.env("RELAY_LOG", "info").arg("--stdio");
    let mut client = Client::run(command);
    client.initialize(LEGACY);
    client
}

#[test]
fn a_replaced_file_is_served_and_its_new_list_announced() {
    let house = House::new();
    let mut client = logged(&house, &WATCH);
    assert_eq!(client.note("x"), "Note: x");
    house.replace(&with_more(2));
    let notified = client.notified();
    assert_eq!(notified["method"], "notifications/prompts/list_changed");
    let list = client.get("prompts/list", json!({}));
    let names: Vec<_> =
        list["prompts"].as_array().unwrap().iter().map(|p| p["name"].clone()).collect();
    assert_eq!(names, ["deploy", "note", "show", "zebra"]);
    assert_eq!(client.note("x"), "More: x");
    // The resources are what they were.
    assert_eq!(client.unasked(), Vec::<String>::new());
}

#[test]
fn lists_that_did_not_change_are_not_announced() {
    let house = House::new();
    let mut client = logged(&house, &WATCH);
    house.replace(&house::bundle(2, "Another:"));
    await_note(&mut client, "Another: x");
    assert_eq!(client.unasked(), Vec::<String>::new());
}

#[test]
fn a_hangup_loads_the_bundle_again() {
    let house = House::new();
    house.write("server.toml", "[watch]\npoll-ms = 0\n");
    let mut client = logged(&house, &WATCH);
    house.replace(&with_more(2));
    // The path is left unpolled.
    assert_eq!(client.unasked(), Vec::<String>::new());
    assert_eq!(client.note("x"), "Note: x");
    client.server.signal("HUP");
    assert_eq!(client.notified()["method"], "notifications/prompts/list_changed");
    assert_eq!(client.note("x"), "More: x");
}

#[test]
fn a_link_that_points_elsewhere_is_followed() {
    let house = House::new();
    house.write("v2.relay", house::bundle(2, "Two:"));
    fs::rename(house.path("house.relay"), house.path("v1.relay")).unwrap();
    let link = |target: &str| {
        std::os::unix::fs::symlink(target, house.path("link")).unwrap();
        fs::rename(house.path("link"), house.path("house.relay")).unwrap();
    };
    link("v1.relay");
    let mut client = logged(&house, &WATCH);
    assert_eq!(client.note("x"), "Note: x");
    link("v2.relay");
    await_note(&mut client, "Two: x");
}

#[test]
fn a_file_that_is_written_in_place_is_taken_once_it_is_whole() {
    let house = House::new();
    let mut client = logged(&house, &WATCH);
    let two = house::bundle(2, "Two:");
    house.write("house.relay", &two[..two.len() / 2]);
    client.server.hear("stays in force");
    assert_eq!(client.note("x"), "Note: x");
    house.write("house.relay", &two);
    await_note(&mut client, "Two: x");
}

#[test]
fn a_subscriber_is_notified_when_a_resource_changes() {
    let house = House::new();
    let mut client = logged(&house, &WATCH);
    for uri in ["relay://checklist", "relay://dot"] {
        client.get("resources/subscribe", json!({ "uri": uri }));
    }
    let (code, _) = client.refused("resources/subscribe", json!({ "uri": "relay://none" }));
    assert_eq!(code, -32002);
    house.replace(&house::with_other_checklist(2));
    let notified = client.notified();
    assert_eq!(notified["method"], "notifications/resources/updated");
    assert_eq!(notified["params"], json!({ "uri": "relay://checklist" }));
    assert_eq!(client.unasked(), Vec::<String>::new());
}

#[test]
fn a_session_over_http_is_notified() {
    let house = House::new();
    let web = Web::start(&house, &WATCH);
    let session = web.begin(None);
    let listen = Request::new("GET", "/mcp")
        .with("Accept", "text/event-stream")
        .with("MCP-Protocol-Version", LEGACY)
        .with("Mcp-Session-Id", &session);
    let mut events = web.listen(&listen);
    house.replace(&with_more(2));
    assert_eq!(events.next()["method"], "notifications/prompts/list_changed");
}

#[test]
fn a_modern_stream_is_notified_of_what_it_asked_for() {
    let house = House::new();
    let web = Web::start(&house, &WATCH);
    let listen = |what| Request::modern("subscriptions/listen", json!({ "notifications": what }));
    let mut prompts = web.listen(&listen(json!({ "promptsListChanged": true })));
    let mut resources =
        web.listen(&listen(json!({ "resourceSubscriptions": ["relay://checklist"] })));
    for events in [&mut prompts, &mut resources] {
        assert_eq!(events.next()["method"], "notifications/subscriptions/acknowledged");
    }
    house.replace(&with_more(2));
    assert_eq!(prompts.next()["method"], "notifications/prompts/list_changed");
    house.replace(&house::with_other_checklist(3));
    let notified = resources.next();
    assert_eq!(notified["method"], "notifications/resources/updated", "{notified}");
    assert_eq!(notified["params"]["uri"], "relay://checklist");
}

/// Replacements that must change nothing, and what is said of each.
fn bad() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let good = house::bundle(6, "Six:");
    let mut flipped = good.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    vec![
        ("flipped", flipped, "refused"),
        ("truncated", good[..good.len() - 1].to_vec(), "refused"),
        ("empty", Vec::new(), "refused"),
        (
            "unsigned",
            relay_bundle::encode(&house::contents(6, "Six:")).expect("it fits"),
            "the bundle is not signed",
        ),
        ("foreign", sample::sealed(&house::contents(6, "Six:"), &[2]), "0 of 1 signatures"),
        ("older", house::bundle(4, "Four:"), "bundle epoch 4 is older than 5"),
    ]
}

#[test]
fn a_bad_replacement_changes_nothing_and_is_reported() {
    for (name, bytes, reason) in bad() {
        let five = house::bundle(5, "Five:");
        let house = House::of(&five);
        let mut client = logged(
            &house,
            &["--config", "server.toml", "--state", "state", "--audit", "audit.jsonl"],
        );
        house.replace(&bytes);
        let log = client.server.hear("stays in force");
        assert!(log.contains(reason), "{name}: {log}");
        assert!(log.contains(&house::digest(&five)), "{name}: {log}");
        assert_eq!(client.note("x"), "Five: x", "{name}");
        assert_eq!(client.unasked(), Vec::<String>::new(), "{name}");
        let record: serde_json::Value =
            serde_json::from_str(house.read("audit.jsonl").lines().next().unwrap()).unwrap();
        assert_eq!(record["tool"], "bundle:reload", "{name}");
        assert_eq!(record["denied"], true, "{name}");
        assert!(record["rule"].as_str().unwrap().contains(reason), "{name}: {record}");
        // A good one is taken afterwards.
        house.replace(&house::bundle(7, "Seven:"));
        await_note(&mut client, "Seven: x");
    }
}

#[test]
fn readiness_reports_a_bad_replacement_until_a_good_one_comes() {
    let house = House::new();
    let web = Web::start(&house, &WATCH);
    let before = web.get("/readyz").json();
    house.replace(&relay_bundle::encode(&house::contents(2, "Two:")).expect("it fits"));
    web.server.hear("stays in force");
    let during = web.get("/readyz");
    // The old bundle is still enforced, so the server is ready.
    assert_eq!(during.status, 200);
    let notified = during.json();
    assert!(notified["last_reload_error"].as_str().unwrap().contains("not signed"), "{notified}");
    assert_eq!(notified["digest"], before["digest"]);
    house.replace(&house::bundle(3, "Three:"));
    web.server.hear("is in force");
    let after = web.get("/readyz").json();
    assert_eq!((&after["last_reload_error"], &after["epoch"]), (&json!(null), &json!(3)));
}

#[test]
fn without_a_state_folder_a_running_server_does_not_go_back_either() {
    let house = House::of(&house::bundle(5, "Five:"));
    let mut client = logged(&house, &WATCH);
    house.replace(&house::bundle(4, "Four:"));
    let log = client.server.hear("stays in force");
    assert!(log.contains("bundle epoch 4 is older than 5"), "{log}");
    assert_eq!(client.note("x"), "Five: x");
}

#[test]
fn a_file_that_is_missing_for_a_moment_does_not_affect_the_server() {
    let house = House::new();
    let mut client = logged(&house, &WATCH);
    fs::remove_file(house.path("house.relay")).unwrap();
    client.server.hear("stays in force");
    assert_eq!(client.note("x"), "Note: x");
    house.replace(&house::bundle(2, "Two:"));
    await_note(&mut client, "Two: x");
}

#[test]
fn the_trust_file_is_read_again_with_the_bundle() {
    let house = House::new();
    let mut client = logged(&house, &WATCH);
    house.write("trust.toml", format!("version = 1\n{}", trusted(2, "")));
    client.server.signal("HUP");
    let log = client.server.hear("stays in force");
    assert!(log.contains("0 of 1 signatures"), "{log}");
    house.replace(&sample::sealed(&house::contents(2, "Two:"), &[2]));
    await_note(&mut client, "Two: x");
}

#[test]
fn a_cursor_of_the_previous_bundle_is_rejected() {
    let house = House::of(&house::bundle_of(&house::many(150)));
    let mut client = logged(&house, &WATCH);
    let page = client.get("prompts/list", json!({}));
    house.replace(&house::bundle_of(&house::many(160)));
    assert_eq!(client.notified()["method"], "notifications/prompts/list_changed");
    let (code, message) = client.refused("prompts/list", json!({ "cursor": page["nextCursor"] }));
    assert_eq!(code, -32602);
    assert!(message.contains("list again from the start"), "{message}");
}

#[test]
fn no_request_is_lost_while_bundles_come_and_go() {
    let house = House::new();
    let mut client = Client::legacy(&house, &WATCH);
    for round in 2..12 {
        house.replace(&house::bundle(round, &format!("Round {round}:")));
        let ids: Vec<u64> =
            (0..50).map(|_| client.request("prompts/get", json!({ "name": "note" }))).collect();
        for id in ids {
            let answer = client.answer(id);
            let text = answer["result"]["messages"][0]["content"]["text"].as_str().unwrap();
            assert!(text.starts_with("Round ") || text.starts_with("Note:"), "{text}");
        }
    }
    assert_eq!(client.end().code, Some(0));
}
