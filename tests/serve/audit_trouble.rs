//! The audit file in trouble: a full disk, parts of lines, wrong modes, and paths of other things
//! than files.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use harness::run;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use super::agent::{Agent, Protocol, text};
use super::auth;
use super::gate;
use super::house::House;
use super::processes::limit_files;
use super::server::{Client, bare, command};
use super::web::{Request, Web};

const AUDIT: [&str; 2] = ["--audit", "audit.jsonl"];

fn note(web: &Web) -> u16 {
    web.send(&Request::modern("prompts/get", json!({ "name": "note" }))).status
}

fn mkfifo(house: &House, name: &str) {
    let mode = Mode::RUSR | Mode::WUSR;
    mknodat(CWD, house.path(name), FileType::Fifo, mode, 0).expect("a pipe");
}

#[test]
fn a_full_disk_is_reported_and_ends_by_itself() {
    let house = House::new();
    house.write("server.toml", "[watch]\npoll-ms = 0\n");
    let web = Web::start(&house, &[&AUDIT[..], &["--config", "server.toml"]].concat());
    assert_eq!(note(&web), 200);
    let whole = house.read("audit.jsonl").len();
    limit_files(&web.server, Some(whole as u64 + 100));
    // Reads are served still.
    assert_eq!(note(&web), 200);
    web.server.hear("cannot write the audit file `audit.jsonl`");
    assert_eq!(house.read("audit.jsonl").len(), whole, "no part of a record stays");
    assert_eq!(note(&web), 200);
    let ready = web.get("/readyz");
    assert_eq!((ready.status, &ready.json()["audit"]), (503, &json!("failing")));

    // With space again the server becomes ready, even before a request is recorded.
    limit_files(&web.server, None);
    let ready = web.get("/readyz");
    assert_eq!((ready.status, &ready.json()["audit"]), (200, &json!("ok")));
    web.server.hear("the audit file `audit.jsonl` is written again");
    assert_eq!(note(&web), 200);
    let text = house.read("audit.jsonl");
    let lines: Vec<Option<Value>> =
        text.lines().map(|line| serde_json::from_str(line).ok()).collect();
    let [Some(first), Some(lost), Some(last)] = lines.as_slice() else { panic!("{text}") };
    assert_eq!((&first["tool"], &last["tool"]), (&json!("prompt:note"), &json!("prompt:note")));
    assert_eq!((&lost["tool"], &lost["args"]), (&json!("audit:lost"), &json!({ "count": "2" })));
}

#[test]
fn a_part_of_a_line_is_kept_and_hides_no_record() {
    let house = gate::house("");
    let mut agent = Agent::with(&house, Protocol::Modern, &AUDIT);
    agent.begin(&["vpn"]);
    agent.client.end();
    // It ends within a character.
    let mut torn = house.read("audit.jsonl").into_bytes();
    torn.extend(b"{\"ts\":\"2026-11-21T00:00:00.000Z\",\"tool\":\"prompt:\xc3");
    fs::write(house.path("audit.jsonl"), &torn).unwrap();
    let mut agent = Agent::with(&house, Protocol::Modern, &AUDIT);
    let handle = agent.begin(&["vpn"]);
    let said = text(&agent.call("audit_tail", json!({ "briefing": handle })));
    let tools: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a record")["tool"].take())
        .collect();
    assert_eq!(tools, ["begin_session", "audit:checkpoint", "begin_session"]);
    let bytes = fs::read(house.path("audit.jsonl")).unwrap();
    assert!(bytes.starts_with(&[&torn[..], b"\n{"].concat()));

    // Another server leaves a part of a line while this one runs.
    let mut torn = bytes.clone();
    torn.extend(b"{\"ts\":");
    fs::write(house.path("audit.jsonl"), &torn).unwrap();
    agent.call("server_info", json!({ "briefing": handle }));
    let bytes = fs::read(house.path("audit.jsonl")).unwrap();
    assert!(bytes.starts_with(&[&torn[..], b"\n{"].concat()));
}

#[test]
fn if_the_file_cannot_be_opened_again_the_old_one_is_kept() {
    let house = House::new();
    let web = Web::start(&house, &AUDIT);
    assert_eq!(note(&web), 200);
    fs::rename(house.path("audit.jsonl"), house.path("old.jsonl")).unwrap();
    fs::create_dir(house.path("audit.jsonl")).unwrap();
    web.server.signal("HUP");
    let log = web.server.hear("records still go to the file that was opened before");
    assert!(log.contains("it is a folder"), "{log}");
    web.server.hear("is in force");
    assert_eq!(note(&web), 200);
    assert_eq!(house.read("old.jsonl").lines().count(), 2);
    assert_eq!(web.get("/readyz").status, 200);
}

#[test]
fn a_file_that_others_may_use_is_made_private() {
    for mode in [0o644, 0o620, 0o604, 0o606, 0o777] {
        let house = House::new();
        house.write("audit.jsonl", "");
        fs::set_permissions(house.path("audit.jsonl"), Permissions::from_mode(mode)).unwrap();
        let mut client = Client::legacy(&house, &AUDIT);
        client.note("x");
        let log = client.server.hear("is now 600");
        assert!(log.contains(&format!("its mode was {mode:o}")), "{log}");
        let found = fs::metadata(house.path("audit.jsonl")).unwrap().permissions().mode();
        assert_eq!(found & 0o777, 0o600);
    }
    // Only the superuser can give a file away, and can open it then.
    let house = House::new();
    house.write("audit.jsonl", "");
    fs::set_permissions(house.path("audit.jsonl"), Permissions::from_mode(0o644)).unwrap();
    if std::os::unix::fs::chown(house.path("audit.jsonl"), Some(12_345), None).is_ok() {
        let ended = run(command(&house, &AUDIT));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains("belongs to another user"), "{}", ended.stderr);
    }
}

/// A server that waited for a pipe would hang.
#[test]
fn a_path_that_is_no_regular_file_is_an_error_at_once() {
    let files = ["trust.toml", "jwks.json", "briefing.key", "cert.pem", "key.pem", "audit.jsonl"];
    let house = || {
        let house = House::new();
        house.write("jwks.json", auth::jwks(7));
        house.write("briefing.key", "42".repeat(32));
        house.write("cert.pem", include_bytes!("tls/cert.pem"));
        house.write("key.pem", include_bytes!("tls/key.pem"));
        house.write("audit.jsonl", "");
        house.write(
            "server.toml",
            "trust = \"trust.toml\"\naudit = { path = \"audit.jsonl\" }\n\
             tls = { cert = \"cert.pem\", key = \"key.pem\" }\n\
             briefing = { keys = [{ id = 1, key-file = \"briefing.key\" }] }\n\
             [[auth.jwt]]\nissuer = \"i\"\naudience = \"https://a/mcp\"\n\
             algorithms = [\"EdDSA\"]\njwks = \"jwks.json\"\n",
        );
        house
    };
    let start = ["house.relay", "--config", "server.toml", "--http", "127.0.0.1:0"];
    let whole = house();
    harness::Process::start(bare(&whole, &start)).hear("/mcp\n");
    for file in files.into_iter().chain(["server.toml"]) {
        for kind in ["a pipe", "a folder", "a device"] {
            let house = house();
            fs::remove_file(house.path(file)).unwrap();
            match kind {
                "a pipe" => mkfifo(&house, file),
                "a folder" => fs::create_dir(house.path(file)).unwrap(),
                _ => std::os::unix::fs::symlink("/dev/zero", house.path(file)).unwrap(),
            }
            let ended = run(bare(&house, &start));
            assert_eq!(ended.code, Some(2), "{file} is {kind}: {ended:?}");
            assert!(ended.stderr.contains(file), "{file} is {kind}: {}", ended.stderr);
            let reason = format!("it is {kind}: name a regular file");
            assert!(ended.stderr.contains(&reason), "{file}: {}", ended.stderr);
        }
    }
    let house = house();
    fs::create_dir_all(house.path("home/.local/share/relay")).unwrap();
    mkfifo(&house, "home/.local/share/relay/dev.pub");
    assert_eq!(run(bare(&house, &["house.relay"])).code, Some(1));
}

#[test]
fn a_pipe_in_place_of_a_file_does_not_stop_a_server() {
    let house = House::new();
    house.write("server.toml", "[watch]\npoll-ms = 0\n");
    let web = Web::start(&house, &["--config", "server.toml"]);
    for (file, words) in [
        ("server.toml", "the settings read before stay in force"),
        ("trust.toml", "cannot read the trust file"),
    ] {
        fs::remove_file(house.path(file)).unwrap();
        mkfifo(&house, file);
        web.server.signal("HUP");
        let log = web.server.hear(words);
        assert!(log.contains("it is a pipe"), "{log}");
        assert_eq!(note(&web), 200);
    }
}
