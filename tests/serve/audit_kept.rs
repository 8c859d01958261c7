//! What the audit keeps: the record of a call before it runs, records on the disk before their answer,
//! and signed checkpoints that show a cut end.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::thread;
use std::time::Duration;

use harness::run;
use relay_engine::audit_chain;
use serde_json::{Value, json};

use super::agent::{Agent, Protocol, text};
use super::house::{self, House};
use super::processes::limit_files;
use super::web::{Request, Web};
use crate::binaries::relay;

const POLICY: &str = "project ops epoch=1\ntools { shell; diagnostics }\n\
                      roles { role operator tier=3 }\nusers { user op role=operator }\npolicy open\n";
const AS_OPERATOR: [&str; 4] = ["--principal", "op", "--audit", "audit.jsonl"];

fn house_with(settings: &str) -> House {
    let house = House::of(&house::bundle_of(POLICY));
    house.write("server.toml", settings);
    house
}

fn operator(house: &House) -> Agent {
    Agent::with(house, Protocol::Modern, &AS_OPERATOR)
}

fn exec(agent: &mut Agent, command: &str) -> String {
    text(&agent.call("shell_exec", json!({ "command": command })))
}

fn records(house: &House) -> Vec<Value> {
    let record =
        |line: &str| serde_json::from_str(line).unwrap_or_else(|it| panic!("{it}: {line}"));
    house.read("audit.jsonl").lines().map(record).collect()
}

/// Returns the code and the texts of `relay audit verify`.
pub(super) fn verify(house: &House, arguments: &str) -> (Option<i32>, String) {
    let mut command = harness::command(relay(), &house.path(""));
    command.args(["audit", "verify"]).args(arguments.split_whitespace());
    let ended = run(command);
    (ended.code, ended.stdout + &ended.stderr)
}

#[test]
fn a_call_of_tier_2_is_recorded_before_it_runs() {
    let house = house_with("");
    let mut agent = operator(&house);
    // The command sees its own record.
    let shown = exec(&mut agent, "cat audit.jsonl; rm -f nothing");
    let tier = &records(&house)[0]["tier"];
    assert!(tier.as_u64() >= Some(2), "{shown}");
    assert!(shown.contains("\"action\":\"begun\""), "{shown}");
    exec(&mut agent, "true");
    let found: Vec<_> =
        records(&house).iter().map(|it| (it["action"].clone(), it["tier"].clone())).collect();
    let (begun, served) = (json!("begun"), json!("served"));
    assert_eq!(found[0], (begun, tier.clone()));
    assert_eq!((&found[1].0, &found[2]), (&served, &(served.clone(), json!(0))));
    let all = records(&house);
    for name in ["tool", "args", "rule", "effects", "request_id", "principal"] {
        assert_eq!(all[0][name], all[1][name], "{name}");
    }
}

#[test]
fn a_full_disk_refuses_tier_2_and_answers_tier_0() {
    for (settings, runs_on) in [("", false), ("[audit]\non-failure = \"degrade\"\n", true)] {
        let house = house_with(settings);
        let mut agent = operator(&house);
        assert_eq!(exec(&mut agent, "true"), "[exit 0]\n");
        let whole = house.read("audit.jsonl");
        limit_files(&agent.client.server, Some(whole.len() as u64 + 100));
        let answer = exec(&mut agent, "rm -f nothing");
        match runs_on {
            true => assert_eq!(answer, "[exit 0]\n"),
            false => assert!(
                answer
                    .starts_with("[ERROR: the audit cannot be written, and calls of tier 2 and 3"),
                "{answer}"
            ),
        }
        assert_eq!(exec(&mut agent, "true"), "[exit 0]\n", "tier 0 is answered");
        assert_eq!(house.read("audit.jsonl"), whole, "no part of a record stays");
        let info: Value = serde_json::from_str(&text(&agent.call("server_info", json!({}))))
            .expect("server_info is JSON");
        let audit = &info["audit"];
        assert_eq!(audit["degraded"], true, "{audit}");
        let expected = if runs_on { "degrade" } else { "refuse" };
        assert_eq!(
            (&audit["on_failure"], &audit["durable"]),
            (&json!(expected), &json!("interval"))
        );
        limit_files(&agent.client.server, None);
        assert_eq!(exec(&mut agent, "true"), "[exit 0]\n");
        let all = records(&house);
        let lost = &all[1];
        assert_eq!((&lost["tool"], &lost["args"]["count"]), (&json!("audit:lost"), &json!("4")));
        let (code, said) = verify(&house, "audit.jsonl");
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("names a gap: 4 records could not be written"), "{said}");
    }
}

#[test]
fn with_durable_always_an_answer_has_its_record() {
    let settings = "[audit]\ndurable = \"always\"\n";
    let house = house_with(settings);
    let mut agent = operator(&house);
    for number in 1..=20 {
        exec(&mut agent, "true");
        assert_eq!(records(&house).len(), number);
    }
    let house = House::new();
    house.write("server.toml", settings);
    let web = Web::start(&house, &["--config", "server.toml", "--audit", "audit.jsonl"]);
    for number in 1..=20 {
        let sent = web.send(&Request::modern("prompts/get", json!({ "name": "note" })));
        assert_eq!((sent.status, records(&house).len()), (200, number));
    }
}

#[test]
fn settings_of_the_audit_are_checked() {
    for (settings, word) in [
        ("durable = \"sometimes\"", "sometimes"),
        ("on-failure = \"ignore\"", "ignore"),
        ("checkpoint-s = -1", "-1"),
        ("flush = 1", "flush"),
    ] {
        let house = house_with(&format!("[audit]\n{settings}\n"));
        let ended = run(super::server::command(&house, &["--config", "server.toml"]));
        assert_eq!(ended.code, Some(2), "{settings}: {ended:?}");
        assert!(ended.stderr.contains(word), "{settings}: {}", ended.stderr);
    }
}

/// A server with checkpoints, which recorded 12 calls and ended.
fn signed() -> (House, String) {
    let house = house_with("state = \"state\"\n[audit]\ncheckpoint-records = 5\n");
    let mut agent = operator(&house);
    for _ in 0..12 {
        exec(&mut agent, "true");
    }
    agent.client.end();
    let names = fs::read_dir(house.path("state")).expect("the state folder");
    let names = names.map(|it| it.expect("a file").file_name().to_string_lossy().into_owned());
    let is_kept = |name: &str| name.starts_with("audit-checkpoints-") && name.ends_with(".jsonl");
    let kept = names.into_iter().find(|name| is_kept(name)).expect("kept checkpoints");
    (house, format!("audit.jsonl --checkpoints state/{kept}"))
}

#[test]
fn checkpoints_show_every_change_of_a_chain() {
    let (house, arguments) = signed();
    let whole = house.read("audit.jsonl");
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let labels: Vec<_> =
        records(&house).iter().map(|it| it["tool"] == "audit:checkpoint").collect();
    let at: Vec<_> = labels.iter().enumerate().filter(|(_, it)| **it).map(|(at, _)| at).collect();
    assert_eq!((lines.len(), at), (15, vec![5, 11, 14]), "every five records, and at the end");
    let (code, said) = verify(&house, &arguments);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("3 checkpoints, signed, up to record 14"), "{said}");

    let anew = |from: usize, to: usize| {
        // Without the key, anyone can compute a chain, but sign nothing.
        let mut last = relay_engine::audit_chain::START;
        let bodies = lines[..to].iter().enumerate().map(|(at, line)| {
            let body = line.split(",\"seq\":").next().expect("a record").to_owned() + "}";
            if at == from { body.replacen("shell_exec", "server_info", 1) } else { body }
        });
        let chained = bodies.map(|body| {
            let (line, link) = relay_engine::audit_chain::chained(&body, last);
            last = link;
            line + "\n"
        });
        chained.collect::<String>()
    };
    let mut swapped = lines.clone();
    swapped.swap(2, 3);
    for (name, text, expected) in [
        (
            "a cut end",
            lines[..9].concat(),
            "records from 10 on are missing: the server signed records up to 15",
        ),
        (
            "a changed record",
            whole.replacen("\"tier\":0", "\"tier\":1", 1),
            "audit.jsonl:1: this record was changed",
        ),
        ("swapped records", swapped.concat(), "comes after record"),
        (
            "a removed middle",
            [&lines[..3], &lines[5..]].concat().concat(),
            "records 4 to 5 are missing before record 6",
        ),
        ("a chain computed anew", anew(1, 15), "is another one than the server signed"),
        ("anew and cut", anew(1, 5), "records from 6 on are missing"),
    ] {
        house.write("audit.jsonl", text);
        let (code, said) = verify(&house, &arguments);
        assert_eq!(code, Some(1), "{name}: {said}");
        assert!(said.contains(expected), "{name}: {said}");
    }
    // Compressed files are unpacked.
    let gzip = fs::File::create(house.path("audit.jsonl.1.gz")).expect("a file");
    let mut gzip = flate2::write::GzEncoder::new(gzip, flate2::Compression::fast());
    gzip.write_all(lines[..8].concat().as_bytes()).expect("a text");
    gzip.finish().expect("a file");
    house.write("audit.jsonl", lines[8..].concat());
    let (code, said) = verify(&house, &format!("audit.jsonl.1.gz {arguments}"));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("intact: 15 records in 2 files, 1 to 15\n"), "{said}");
    house.write("audit.jsonl", &whole);
    let (other, _) = signed();
    fs::copy(other.path("state/audit-checkpoint.pub"), house.path("other.pub")).expect("a key");
    let (code, said) = verify(&house, "audit.jsonl --key other.pub");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("audit.jsonl:6: this checkpoint is signed by the foreign key"), "{said}");
    let (code, said) = verify(&house, "audit.jsonl");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("not checked: give --key"), "{said}");
}

#[test]
fn a_killed_server_leaves_the_begin_of_its_call_and_a_whole_chain() {
    let house = house_with("");
    let mut agent = operator(&house);
    exec(&mut agent, "true");
    agent.request("shell_exec", json!({ "command": "rm -f nothing; sleep 60" }));
    while !house.read("audit.jsonl").contains("\"begun\"") {
        thread::sleep(Duration::from_millis(10));
    }
    agent.client.server.signal("KILL");
    drop(agent);
    let all = records(&house);
    let last = all.last().expect("a record");
    assert_eq!((&last["action"], &last["tool"]), (&json!("begun"), &json!("shell_exec")));
    let mut file =
        OpenOptions::new().append(true).open(house.path("audit.jsonl")).expect("the file");
    file.write_all(b"{\"ts\":\"half of").expect("a part of a line");
    let mut agent = operator(&house);
    exec(&mut agent, "true");
    let (code, said) = verify(&house, "audit.jsonl");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.starts_with("broken: 1 break, 3 records in 1 file\n"), "{said}");
    assert!(said.contains("audit.jsonl:3: this line is no whole record"), "{said}");
}

#[test]
fn a_checkpoint_of_another_form_is_reported() {
    let house = House::new();
    let mut text = String::new();
    let mut last = audit_chain::START;
    for args in [r#"{"covers":7}"#, "null", r#"{"covers":"1"}"#] {
        let record = format!(
            r#"{{"ts":"2027-01-31T10:00:00.000Z","tool":"audit:checkpoint","args":{args}}}"#
        );
        last = audit_chain::append(&mut text, &record, last);
        text.push('\n');
    }
    house.write("audit.jsonl", text);
    let (code, said) = verify(&house, "audit.jsonl");
    assert_eq!(code, Some(1), "{said}");
    assert_eq!(said.matches("this checkpoint is malformed").count(), 3, "{said}");
}
