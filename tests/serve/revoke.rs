//! The bundle in force is judged again: a revocation ends service, an expiry is reported.

#![expect(clippy::disallowed_methods, reason = "a key that expires needs the time")]

use std::fs;
use std::time::SystemTime;

use relay_bundle::envelope::key_id;
use serde_json::{Value, json};

use super::agent::error;
use super::gate::project;
use super::house::{self, House, SIGNER, trusted};
use super::server::{Client, LEGACY, MODERN, command, wait_until};
use super::web::{Answer, Request, Web};
use crate::bundle::sample;

const CONFIG: [&str; 2] = ["--config", "server.toml"];

/// The answer of a server whose bundle is revoked.
const REVOKED: &str = "the bundle of this server was revoked";

/// A trust file that holds the signer's key and ends with this text.
fn trust(version: u64, end: &str) -> String {
    format!("version = {version}\n{}{end}\n", trusted(SIGNER, ""))
}

/// A trust file that revokes the digest of a bundle.
fn revoking(version: u64, bundle: &[u8]) -> String {
    trust(version, &format!("[revoked]\ndigests = [\"{}\"]", house::digest(bundle)))
}

/// Puts a trust file in place, whole.
fn write_trust(house: &House, text: &str) {
    house.write("new.toml", text);
    fs::rename(house.path("new.toml"), house.path("trust.toml")).expect("a rename");
}

/// A house that reads its files only on SIGHUP.
fn quiet(bundle: &[u8]) -> House {
    let house = House::of(bundle);
    house.write("server.toml", "[watch]\npoll-ms = 0\n");
    house
}

fn note(web: &Web) -> Answer {
    web.send(&Request::modern("prompts/get", json!({ "name": "note" })))
}

fn logged(house: &House, arguments: &[&str]) -> Client {
    let mut command = command(house, arguments);
    command.env("RELAY_LOG", "info").arg("--stdio");
    let mut client = Client::run(command);
    client.initialize(LEGACY);
    client
}

#[test]
fn a_revoked_digest_ends_service_on_sighup_until_a_trusted_bundle_comes() {
    let one = house::bundle(1, "Note:");
    let house = quiet(&one);
    let web = Web::start(&house, &[&CONFIG[..], &["--audit", "audit.jsonl"]].concat());
    assert_eq!(note(&web).status, 200);
    let session = web.begin(None);
    write_trust(&house, &revoking(1, &one));
    web.server.signal("HUP");
    let log = web.server.hear("nothing is served until a trusted bundle comes");
    assert!(log.contains(&house::digest(&one)), "{log}");
    for request in [
        Request::modern("prompts/get", json!({ "name": "note" })),
        Request::modern("server/discover", json!({})),
        Request::initialize(),
        Request::legacy(&session, "prompts/list", json!({})),
    ] {
        let answer = web.send(&request);
        assert_eq!(answer.status, 503, "{answer:?}");
        let error = &answer.json()["error"];
        assert_eq!(error["code"], -32603);
        assert!(error["message"].as_str().unwrap().starts_with(REVOKED), "{error}");
    }
    let ready = web.get("/readyz");
    assert_eq!(ready.status, 503);
    let body = ready.json();
    assert_eq!((&body["bundle"], &body["state"]), (&json!("revoked"), &json!("degraded")));
    assert!(body["trust_error"].as_str().unwrap().contains("is revoked"), "{body}");
    assert_eq!(web.get("/healthz").status, 200);
    let records = house.read("audit.jsonl");
    assert!(records.contains("\"tool\":\"bundle:revoked\""), "{records}");

    // The same bundle by another SIGHUP is revoked still; a trusted one is served.
    web.server.signal("HUP");
    web.server.hear("; nothing is served\n");
    assert_eq!(note(&web).status, 503);
    house.replace(&house::bundle(2, "Two:"));
    web.server.signal("HUP");
    web.server.hear("is in force");
    assert_eq!(note(&web).status, 200);
    let ready = web.get("/readyz");
    assert_eq!((ready.status, ready.json().get("trust_error")), (200, None));
}

#[test]
fn a_changed_trust_file_revokes_without_a_signal() {
    let bytes = house::bundle_of(&project(""));
    let house = House::of(&bytes);
    let mut client = logged(&house, &[&CONFIG[..], &["--audit", "audit.jsonl"]].concat());
    client.get("prompts/get", json!({ "name": "naming" }));
    write_trust(&house, &revoking(1, &bytes));
    client.server.hear("nothing is served until a trusted bundle comes");
    for (method, params) in [
        ("prompts/get", json!({ "name": "naming" })),
        ("prompts/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": "relay://none" })),
        ("resources/subscribe", json!({ "uri": "relay://none" })),
        ("tools/list", json!({})),
        (
            "completion/complete",
            json!({
                "ref": { "type": "ref/prompt", "name": "naming" },
                "argument": { "name": "x", "value": "" },
            }),
        ),
    ] {
        let (code, message) = client.refused(method, params);
        assert_eq!(code, -32603, "{method}: {message}");
        assert!(message.starts_with(REVOKED), "{method}: {message}");
    }
    let call = json!({ "name": "begin_session", "arguments": { "tags": ["vpn"] } });
    let denied = error(&client.get("tools/call", call));
    assert!(denied.contains(REVOKED), "{denied}");
    let records = house.read("audit.jsonl");
    let tools: Vec<Value> = records
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["tool"].take())
        .filter(|tool| !tool.as_str().unwrap().starts_with("bundle:"))
        .collect();
    assert_eq!(tools.len(), 6, "each request that names something has its record: {tools:?}");
    house.replace(&house::bundle(2, "Two:"));
    client.server.hear("is in force");
    assert_eq!(client.note("x"), "Two: x");
}

#[test]
fn a_client_that_comes_after_a_revocation_gets_nothing() {
    let bytes = house::bundle(1, "Note:");
    let house = House::of(&bytes);
    for version in [LEGACY, MODERN] {
        write_trust(&house, &trust(1, ""));
        let mut client = Client::start(&house, &CONFIG);
        // The server watches its files as soon as it reads its input.
        client.ask("ping", json!({}));
        write_trust(&house, &revoking(1, &bytes));
        client.server.hear("nothing is served");
        let (method, params) = match version {
            LEGACY => ("initialize", super::server::initialize_params(LEGACY)),
            _ => ("server/discover", super::server::modern(json!({}))),
        };
        let answer = client.ask(method, params);
        assert!(answer["error"]["message"].as_str().unwrap().starts_with(REVOKED), "{answer}");
    }
}

#[test]
fn a_revoked_key_ends_service() {
    let house = quiet(&house::bundle(1, "Note:"));
    let web = Web::start(&house, &CONFIG);
    let id = key_id(&sample::key(SIGNER).verifying_key());
    write_trust(&house, &trust(1, &format!("[revoked]\nkeys = [\"{id}\"]")));
    web.server.signal("HUP");
    web.server.hear("nothing is served until a trusted bundle comes");
    assert_eq!((note(&web).status, web.get("/readyz").status), (503, 503));
}

/// A second signature by an unrevoked key is enough.
#[test]
fn a_revoked_key_that_is_not_needed_changes_nothing() {
    let house = quiet(&sample::sealed(&house::contents(1, "Note:"), &[SIGNER, 2]));
    let web = Web::start(&house, &CONFIG);
    let id = key_id(&sample::key(SIGNER).verifying_key());
    let end = format!("{}[revoked]\nkeys = [\"{id}\"]", trusted(2, ""));
    write_trust(&house, &trust(1, &end));
    web.server.signal("HUP");
    web.server.hear("is in force");
    assert_eq!((note(&web).status, web.get("/readyz").status), (200, 200));
}

#[test]
fn a_key_that_expires_is_reported_and_the_bundle_is_served() {
    let house = quiet(&house::bundle(1, "Note:"));
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    let soon = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(since.as_secs() + 4);
    let end = humantime::format_rfc3339_seconds(soon);
    write_trust(
        &house,
        &format!("version = 1\n{}", trusted(SIGNER, &format!("not-after = {end}"))),
    );
    let web = Web::start(&house, &CONFIG);
    assert!(web.get("/readyz").json().get("trust_error").is_none());
    let log = web.server.hear("stays in force, but a restart would refuse it");
    assert!(log.contains("key has expired"), "{log}");
    assert_eq!(note(&web).status, 200);
    let ready = web.get("/readyz");
    assert_eq!(ready.status, 200);
    let body = ready.json();
    assert!(body["trust_error"].as_str().unwrap().contains("key has expired"), "{body}");
    // Another look at the files keeps the service going too.
    web.server.signal("HUP");
    web.server.hear("refused `house.relay`");
    assert_eq!(note(&web).status, 200);
}

#[test]
fn a_key_that_is_no_longer_listed_is_reported() {
    let house = quiet(&house::bundle(1, "Note:"));
    let web = Web::start(&house, &CONFIG);
    write_trust(&house, &format!("version = 1\n{}", trusted(2, "")));
    web.server.signal("HUP");
    web.server.hear("stays in force, but a restart would refuse it");
    assert_eq!(note(&web).status, 200);
    let body = web.get("/readyz").json();
    assert!(body["trust_error"].as_str().unwrap().contains("0 of 1 signatures"), "{body}");
}

#[test]
fn a_trust_file_that_cannot_be_used_revokes_nothing_and_restores_nothing() {
    let one = house::bundle(1, "Note:");
    let house = quiet(&one);
    let web = Web::start(&house, &CONFIG);
    write_trust(&house, &revoking(1, &one).replace("sha256:", "SHA256:"));
    web.server.signal("HUP");
    let log = web.server.hear("stays in force");
    assert!(log.contains("does not begin with `sha256:`"), "{log}");
    assert_eq!(note(&web).status, 200);
    write_trust(&house, &revoking(2, &one));
    web.server.signal("HUP");
    web.server.hear("nothing is served until a trusted bundle comes");
    for text in ["no trust file", &trust(1, "")] {
        write_trust(&house, text);
        let before = web.server.log().matches("; nothing is served\n").count();
        web.server.signal("HUP");
        wait_until(|| web.server.log().matches("; nothing is served\n").count() > before);
        assert_eq!(note(&web).status, 503);
    }
    // The server looks at its files by itself too, so a line may be about the file before.
    wait_until(|| web.server.log().contains("version 1, but version 2 was in force before"));
}

#[test]
fn a_bundle_of_another_project_replaces_only_where_no_project_is_named() {
    for arguments in [&CONFIG[..], &[CONFIG[0], CONFIG[1], "--state", "state"]] {
        let house = House::new();
        write_trust(&house, &format!("project = \"house\"\n{}", trust(1, "")));
        let mut client = logged(&house, arguments);
        house.replace(&house::bundle_of(&house::many(3)));
        let log = client.server.hear("stays in force");
        assert!(log.contains("accepts only project `house`"), "{log}");
        assert_eq!(client.note("x"), "Note: x");
        write_trust(&house, &trust(1, ""));
        client.server.hear("project `many` replaces project `house`");
    }
}

#[test]
fn what_a_restart_forgets_is_said_once() {
    let says = |log: &str| log.matches("no state folder is configured").count();
    let house = House::new();
    let web = Web::start(&house, &CONFIG);
    web.server.signal("HUP");
    let log = web.server.hear("is in force");
    assert_eq!(says(&log), 1, "{log}");
    let log = Web::start(&house, &["--state", "state"]).server.log();
    assert_eq!(says(&log), 0, "{log}");
}
