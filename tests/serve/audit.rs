//! The audit file: one record of everything that was pulled, and nothing of what it said.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;
use std::time::Duration;

use relay_engine::audit_chain;
use serde_json::{Value, json};

use super::house::{self, BEEP, CHECKLIST, DOT, House};
use super::server::{Client, command, modern};
use crate::binaries::relay;

const AUDIT: [&str; 2] = ["--audit", "audit.jsonl"];

fn records(text: &str) -> Vec<Value> {
    assert!(text.is_empty() || text.ends_with('\n'));
    let record =
        |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(record).collect()
}

#[test]
fn a_served_prompt_is_one_line_of_fixed_order() {
    let house = House::new();
    let mut client = Client::legacy(
        &house,
        &["--audit", "audit.jsonl", "--principal", "ann", "--tenant", "acme"],
    );
    let arguments = json!({ "service": "the secret door", "environment": "production" });
    client.get("prompts/get", json!({ "name": "deploy", "arguments": arguments }));
    let line = house.read("audit.jsonl");
    let [record] = records(&line).try_into().expect("one record");
    let body = "Deploy the secret door to production, with care.";
    let expected = format!(
        concat!(
            r#"{{"ts":{},"tool":"prompt:deploy","tier":0,"denied":false,"#,
            r#""args":{{"dry-run":"false","environment":"production","service":"[15 characters]"}},"#,
            r#""output_sha256":"{}","output_len":{},"exit_code":null,"request_id":"2","#,
            r#""principal":"ann","tenant":"acme","bundle":"{}","rule":{},"action":"served"}}"#,
        ),
        record["ts"],
        house::sha256(body.as_bytes()),
        body.len(),
        house::digest(&house::bundle(1, "Note:")),
        record["rule"],
    );
    // It is the first of a chain.
    assert_eq!(line, audit_chain::chained(&expected, audit_chain::START).0 + "\n");
    let rule = record["rule"].as_str().unwrap();
    assert!(rule.starts_with("project.kdl:"), "{rule}");
    let ts = record["ts"].as_str().unwrap();
    assert!(ts.len() == "2026-11-21T12:00:00.000Z".len() && ts.ends_with('Z'), "{ts}");
}

#[test]
fn the_records_of_two_servers_on_one_file_are_one_chain() {
    let house = House::new();
    let mut clients = [(); 2].map(|()| {
        let mut command = command(&house, &["--audit", "audit.jsonl", "--stdio"]);
        command.env("RELAY_LOG", "info");
        let mut client = Client::run(command);
        client.initialize("2025-11-25");
        client
    });
    for _ in 0..20 {
        for client in &mut clients {
            client
                .get("prompts/get", json!({ "name": "show", "arguments": { "arguments": "it" } }));
        }
    }
    fs::rename(house.path("audit.jsonl"), house.path("audit.jsonl.1")).expect("a rotation");
    for client in &clients {
        client.server.signal("HUP");
        client.server.hear("is in force");
    }
    for client in &mut clients {
        client.get("prompts/get", json!({ "name": "show", "arguments": { "arguments": "it" } }));
    }
    let verify = |files: &[&str]| {
        let mut command = harness::command(relay(), &house.path(""));
        command.args(["audit", "verify"]).args(files);
        harness::run(command).stdout
    };
    let whole = verify(&["audit.jsonl.1", "audit.jsonl"]);
    assert!(whole.starts_with("intact: 42 records in 2 files, 1 to 42\n"), "{whole}");
    let changed = house.read("audit.jsonl.1").replacen("\"prompt:show\"", "\"prompt:deploy\"", 1);
    house.write("audit.jsonl.1", changed);
    let broken = verify(&["audit.jsonl.1", "audit.jsonl"]);
    assert!(broken.contains("audit.jsonl.1:1: this record was changed"), "{broken}");
}

#[test]
fn every_request_leaves_one_record() {
    let house = House::new();
    let mut client = Client::legacy(&house, &AUDIT);
    client.get("prompts/list", json!({}));
    client.get("resources/list", json!({}));
    client.get("prompts/get", json!({ "name": "show", "arguments": { "arguments": "it" } }));
    client.get("resources/read", json!({ "uri": "relay://dot" }));
    client.get("resources/read", json!({ "uri": "relay://rooms/office/plan" }));
    client.get("resources/read", json!({ "uri": "relay://notes/private" }));
    client.refused("prompts/get", json!({ "name": "nothing", "arguments": { "a": "secret" } }));
    client.refused("prompts/get", json!({ "name": "deploy", "arguments": { "service": 7 } }));
    client.refused(
        "prompts/get",
        json!({ "name": "deploy", "arguments": { "service": "secret", "environment": "moon" } }),
    );
    client.refused("resources/read", json!({ "uri": "relay://nothing" }));

    let text = house.read("audit.jsonl");
    assert!(!text.contains("secret"), "{text}");
    let records = records(&text);
    let found: Vec<_> = records
        .iter()
        .map(|record| {
            let text = |name: &str| record[name].as_str().unwrap();
            (text("tool"), text("action"), &record["denied"], record["args"].clone())
        })
        .collect();
    let (yes, no) = (&json!(true), &json!(false));
    assert_eq!(
        found,
        [
            ("prompt:show", "served", no, json!({ "arguments": "[2 characters]" })),
            ("resource:relay://dot", "served", no, json!({})),
            ("resource:relay://rooms/{room}/plan", "served", no, json!({ "room": "office" })),
            ("resource:relay://notes/{id}", "served", no, json!({ "id": "[7 characters]" })),
            ("prompt:unknown", "refused", yes, json!({ "[unknown]": "[1 entries]" })),
            ("prompt:deploy", "refused", yes, json!({})),
            (
                "prompt:deploy",
                "refused",
                yes,
                json!({ "environment": "[4 characters]", "service": "[6 characters]" }),
            ),
            ("resource:unknown", "refused", yes, json!({})),
        ]
    );
    let hash = |bytes: &[u8]| json!(house::sha256(bytes));
    let bodies = [b"Look at it.", CHECKLIST.as_bytes(), b"Inline.", b"I look.", DOT, BEEP].concat();
    assert_eq!(records[0]["output_sha256"], hash(&bodies));
    assert_eq!(records[0]["output_len"], bodies.len());
    assert_eq!(records[1]["output_sha256"], hash(DOT));
    assert_eq!(records[2]["output_sha256"], hash(b"The office: office"));
    for refused in &records[4..] {
        assert_eq!((&refused["output_sha256"], &refused["output_len"]), (&hash(b""), &json!(0)));
    }
    assert_eq!(records[4]["rule"], "unknown prompt");
    assert_eq!(records[7]["rule"], "unknown resource");
    assert_eq!(records[5]["rule"], "an argument is not a string");
    assert_eq!(records[6]["rule"], "argument `environment` must be one of: staging, production");
}

/// Requests that only ask about a prompt or resource name it too.
#[test]
fn completions_and_subscriptions_leave_a_record() {
    let house = House::new();
    let mut client = Client::legacy(&house, &AUDIT);
    let prompt = |prompt: &str, argument: &str| {
        json!({
            "ref": { "type": "ref/prompt", "name": prompt },
            "argument": { "name": argument, "value": "hunter2" },
        })
    };
    client.get("completion/complete", prompt("deploy", "environment"));
    client.refused("completion/complete", prompt("deploy", "hunter3"));
    client.refused("completion/complete", prompt("hunter4", "environment"));
    client.get(
        "completion/complete",
        json!({
            "ref": { "type": "ref/resource", "uri": "relay://rooms/{room}/plan" },
            "argument": { "name": "room", "value": "k" },
        }),
    );
    client.refused("completion/complete", json!({ "ref": { "type": "ref/prompt" } }));
    client.get("resources/subscribe", json!({ "uri": "relay://dot" }));
    client.get("resources/subscribe", json!({ "uri": "relay://notes/hunter5" }));
    client.refused("resources/subscribe", json!({ "uri": "relay://hunter6" }));
    client.get("resources/unsubscribe", json!({ "uri": "relay://dot" }));
    client.refused("resources/subscribe", json!({}));
    let text = house.read("audit.jsonl");
    assert!(!text.contains("hunter"), "{text}");
    let of = |record: &Value| {
        format!("{} {} {}", record["tool"], record["denied"], record["args"]).replace('"', "")
    };
    let all: Vec<_> = records(&text).iter().map(of).collect();
    assert_eq!(
        all,
        [
            "complete:prompt:deploy false {environment:[7 characters]}",
            "complete:prompt:deploy true {[unknown]:[1 entries]}",
            "complete:prompt:unknown true {[unknown]:[1 entries]}",
            "complete:resource:relay://rooms/{room}/plan false {room:[1 characters]}",
            "complete:unknown true {}",
            "subscribe:resource:relay://dot false {}",
            "subscribe:resource:relay://notes/{id} false {}",
            "subscribe:resource:unknown true {}",
            "unsubscribe:resource:relay://dot false {}",
            "subscribe:unknown true {}",
        ]
    );
}

#[test]
fn a_trace_is_carried_over() {
    let house = House::new();
    let mut client = Client::start(&house, &AUDIT);
    let mut params = modern(json!({ "name": "note" }));
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    params["_meta"]["traceparent"] = json!(trace);
    client.get("prompts/get", params);
    let [record] = records(&house.read("audit.jsonl")).try_into().expect("one record");
    assert_eq!(record["traceparent"], trace);
    assert_eq!(record["principal"], "local");
    assert!(record.get("tenant").is_none());
}

/// A name in a request may be a secret that its caller sent to the wrong place.
#[test]
fn nothing_that_a_caller_typed_is_a_label() {
    const SECRET: &str = "hunter2";
    let mut contents = house::contents_of(&super::gate::project(""));
    let more = house::contents(1, "Note:");
    contents.prompts = more.prompts;
    contents.prompt_pages = more.prompt_pages;
    contents.templates = more.templates;
    contents.template_pages = more.template_pages;
    let house = House::of_altered(&contents);
    let mut command = command(&house, &["--audit", "audit.jsonl", "--stdio"]);
    command.env("RELAY_LOG", "debug");
    let mut client = Client::run(command);
    let token = format!("token={SECRET}");
    let typed = || json!({ SECRET: SECRET, "service": SECRET });
    let requests = [
        ("prompts/get", json!({ "name": token, "arguments": typed() })),
        ("prompts/get", json!({ "name": "deploy", "arguments": typed() })),
        ("prompts/get", json!({ "name": "deploy", "arguments": { "service": "x", SECRET: 1 } })),
        (
            "prompts/get",
            json!({ "name": "deploy", "arguments": { "service": "x", "environment": SECRET } }),
        ),
        ("resources/read", json!({ "uri": format!("relay://{token}") })),
        ("resources/read", json!({ "uri": format!("relay://rooms/{SECRET}/plan") })),
        ("resources/read", json!({ "uri": format!("relay://notes/{SECRET}") })),
        ("tools/call", json!({ "name": token, "arguments": typed() })),
        ("tools/call", json!({ "name": "read_prompts", "arguments": typed() })),
        ("tools/call", json!({ "name": "server_info", "arguments": { "briefing": SECRET } })),
        ("tools/call", json!({ "name": "begin_session", "arguments": { "tags": SECRET } })),
    ];
    for (method, params) in &requests {
        let mut params = modern(params.clone());
        params["_meta"]["traceparent"] = json!(format!("00-{SECRET}"));
        client.ask(method, params);
    }
    let text = house.read("audit.jsonl");
    assert!(!text.contains(SECRET), "{text}");
    let log = client.server.log();
    assert!(!log.contains(SECRET), "{log}");
    let records = records(&text);
    let tools: Vec<_> = records.iter().map(|record| record["tool"].as_str().unwrap()).collect();
    assert_eq!(
        tools,
        [
            "prompt:unknown",
            "prompt:deploy",
            "prompt:deploy",
            "prompt:deploy",
            "resource:unknown",
            "resource:unknown",
            "resource:relay://notes/{id}",
            "tool:unknown",
            "read_prompts",
            "server_info",
            "begin_session",
        ]
    );
    let known = json!({ "[unknown]": "[1 entries]", "service": "[7 characters]" });
    assert_eq!(records[1]["args"], known);
    assert_eq!(records[7]["args"], json!({ "[unknown]": "[2 entries]" }));
    assert_eq!(records[7]["rule"], "unknown tool");
    assert!(records.iter().all(|record| record.get("traceparent").is_none()));
}

#[test]
fn a_huge_request_id_is_truncated_with_a_mark() {
    let house = House::new();
    let mut client = Client::legacy(&house, &AUDIT);
    for id in ["x".repeat(3 << 20), "ä".repeat(500), "y".repeat(501)] {
        let params = json!({ "name": "note" });
        let request =
            json!({ "jsonrpc": "2.0", "id": id, "method": "prompts/get", "params": params });
        client.send(&request);
        assert_eq!(client.next_message().expect("an answer")["id"], id);
    }
    let records = records(&house.read("audit.jsonl"));
    let ids: Vec<_> = records.iter().map(|record| record["request_id"].as_str().unwrap()).collect();
    assert_eq!(
        ids,
        [format!("{}…", "x".repeat(499)), "ä".repeat(500), format!("{}…", "y".repeat(499))]
    );
}

#[test]
fn texts_of_a_caller_are_truncated_in_records() {
    let house = House::new();
    let mut client = Client::legacy(&house, &AUDIT);
    let long = "x".repeat(100_000);
    let many: serde_json::Map<String, Value> =
        (0..10_000).map(|number| (format!("a{number}"), json!("v"))).collect();
    client.refused("prompts/get", json!({ "name": long, "arguments": many }));
    client.refused("resources/read", json!({ "uri": format!("relay://{long}") }));
    let text = house.read("audit.jsonl");
    assert_eq!(records(&text).len(), 2);
    assert!(text.lines().all(|line| line.len() < 8_000), "{} bytes", text.len());
}

#[test]
fn the_file_is_for_its_user_alone() {
    let house = House::new();
    Client::legacy(&house, &AUDIT).note("x");
    let mode = fs::metadata(house.path("audit.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_record_is_written_before_its_answer() {
    let house = House::new();
    let mut client = Client::legacy(&house, &AUDIT);
    for count in 1..=20 {
        client.note("x");
        assert_eq!(records(&house.read("audit.jsonl")).len(), count);
    }
}

#[test]
fn two_servers_share_a_file_line_by_line() {
    let house = House::new();
    let mut clients = [Client::legacy(&house, &AUDIT), Client::legacy(&house, &AUDIT)];
    let mut ids = Vec::new();
    for _ in 0..200 {
        for (index, client) in clients.iter_mut().enumerate() {
            ids.push((index, client.request("prompts/get", json!({ "name": "note" }))));
        }
    }
    for (index, id) in ids {
        clients[index].answer(id);
    }
    let records = records(&house.read("audit.jsonl"));
    assert_eq!(records.len(), 400);
    assert!(records.iter().all(|record| record["tool"] == "prompt:note"));
}

#[test]
fn a_probe_leaves_no_record() {
    let house = House::new();
    let mut client = Client::legacy(&house, &AUDIT);
    client.get("prompts/list", json!({}));
    assert_eq!(client.end().code, Some(0));
    assert_eq!(house.read("audit.jsonl"), "");
}

#[test]
fn a_file_that_was_moved_away_is_created_again() {
    let house = House::new();
    let mut client = Client::run({
        let mut command = command(&house, &["--audit", "audit.jsonl", "--stdio"]);
        command.env("RELAY_LOG", "info");
        command
    });
    client.initialize("2025-11-25");
    client.note("x");
    fs::rename(house.path("audit.jsonl"), house.path("audit.1")).unwrap();
    client.note("x");
    client.server.signal("HUP");
    client.server.hear("is in force");
    client.note("x");
    // The next record after the move creates it; the signal changes nothing more.
    assert_eq!(records(&house.read("audit.1")).len(), 1);
    assert_eq!(records(&house.read("audit.jsonl")).len(), 2);
}

#[test]
fn by_default_records_go_to_this_users_own_file() {
    let house = House::new();
    Client::legacy(&house, &[]).note("x");
    let own = "home/.local/state/relay";
    assert_eq!(records(&house.read(&format!("{own}/audit.jsonl"))).len(), 1);
    let mode = |path: &str| fs::metadata(house.path(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(own), mode(&format!("{own}/audit.jsonl"))), (0o700, 0o600));

    let mut command = command(&house, &["--stdio"]);
    command.env("XDG_STATE_HOME", house.path("xdg"));
    let mut client = Client::run(command);
    client.initialize("2025-11-25");
    client.note("x");
    assert_eq!(records(&house.read("xdg/relay/audit.jsonl")).len(), 1);
}

#[test]
fn none_switches_records_off_and_says_so() {
    let house = House::new();
    house.write("none.toml", "[audit]\npath = \"none\"\n");
    for arguments in [["--audit", "none"], ["--config", "none.toml"]] {
        let mut command = command(&house, &arguments);
        command.env("RELAY_LOG", "info");
        let mut client = Client::run(command);
        client.initialize("2025-11-25");
        client.note("x");
        client.server.hear("nothing is recorded, as configured");
    }
    assert!(!house.path("none").exists());
    assert!(!house.path("home/.local").exists());
}

#[test]
fn options_have_precedence_over_the_configuration() {
    let house = House::new();
    house.write("none.toml", "[audit]\npath = \"none\"\n");
    Client::legacy(&house, &["--config", "none.toml", "--audit", "audit.jsonl"]).note("x");
    assert_eq!(records(&house.read("audit.jsonl")).len(), 1);
}

#[test]
fn a_user_without_a_home_is_warned() {
    let house = House::new();
    let mut command = command(&house, &["--stdio"]);
    command.env_remove("HOME");
    let mut client = Client::run(command);
    client.initialize("2025-11-25");
    client.server.hear("nothing is recorded: neither XDG_STATE_HOME nor HOME says where");
    assert_eq!(client.note("x"), "Note: x");
}

#[test]
fn a_file_that_cannot_be_written_is_refused_at_the_start() {
    let house = House::new();
    let ended = harness::run(command(&house, &["--audit", "no/such/folder/audit.jsonl"]));
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("cannot append to the audit file `no/such/folder/audit.jsonl`"));
    assert!(ended.stderr.contains("`--audit none`"), "{}", ended.stderr);
}

#[test]
fn a_home_that_cannot_be_written_is_refused_at_the_start() {
    let house = House::new();
    let mut command = command(&house, &[]);
    command.env("HOME", "/dev/null");
    let ended = harness::run(command);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let path = "`/dev/null/.local/state/relay/audit.jsonl`";
    assert!(ended.stderr.contains(path), "{}", ended.stderr);
    assert!(ended.stderr.contains("`--audit none`"), "{}", ended.stderr);
}

#[test]
fn every_key_of_a_record_is_in_the_schema() {
    let house = House::new();
    let mut client = Client::legacy(&house, &["--audit", "audit.jsonl"]);
    client.note("x");
    client.refused("prompts/get", json!({ "name": "no" }));
    client.get("resources/read", json!({ "uri": "relay://checklist" }));
    let text = std::fs::read_to_string(crate::support::root().join("schemas/audit-record.json"));
    let schema: Value = serde_json::from_str(&text.expect("the schema")).expect("JSON");
    let docs = std::fs::read_to_string(crate::support::root().join("docs/audit.md")).expect("docs");
    let properties = schema["properties"].as_object().expect("properties");
    for name in properties.keys() {
        assert!(docs.contains(&format!("| `{name}` |")), "docs/audit.md lacks {name}");
    }
    let log = house.read("audit.jsonl");
    assert_eq!(log.lines().count(), 3);
    for line in log.lines() {
        let record: Value = serde_json::from_str(line).expect("JSON");
        let record = record.as_object().expect("an object");
        for name in record.keys() {
            assert!(properties.contains_key(name), "the schema lacks {name}");
        }
        for name in schema["required"].as_array().expect("names") {
            assert!(record.contains_key(name.as_str().expect("a name")), "{line} lacks {name}");
        }
    }
}

#[test]
fn a_bundle_that_replaces_another_is_recorded() {
    let house = House::new();
    let (old, new) = (house::bundle(1, "Note:"), house::bundle(2, "Other:"));
    let mut client = Client::legacy(&house, &["--config", "server.toml", "--audit", "audit.jsonl"]);
    house.replace(&new);
    while client.note("x") != "Other: x" {}
    // It is recorded once the new bundle is in force.
    while !house.read("audit.jsonl").contains("bundle:reload") {
        thread::sleep(Duration::from_millis(10));
    }
    let log = house.read("audit.jsonl");
    let records = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let reloads: Vec<_> = records.filter(|record| record["tool"] == "bundle:reload").collect();
    assert_eq!(reloads.len(), 1, "{log}");
    let reload = &reloads[0];
    assert_eq!((&reload["denied"], &reload["action"]), (&json!(false), &json!("served")));
    assert_eq!(reload["args"], json!({ "replaces": house::digest(&old) }));
    assert_eq!(reload["bundle"], house::digest(&new));
}

/// Some readers end a line at these characters; JSON has an escape for each.
#[test]
fn a_record_is_one_line_for_every_reader() {
    let house = House::new();
    let mut client = Client::legacy(&house, &AUDIT);
    let id = "a\u{2028}b\u{85}c\u{200b}\u{e0041}\u{7f}";
    let params = json!({ "name": "note" });
    client.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "prompts/get", "params": params }));
    assert_eq!(client.next_message().expect("an answer")["id"], id);
    let text = house.read("audit.jsonl");
    assert_eq!(relay_engine::invisible::search(&text), [], "{text}");
    assert_eq!(records(&text)[0]["request_id"], id);
}
