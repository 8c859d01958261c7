//! `relay audit show`: the records of an audit file.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};

use harness::Process;
use serde_json::{Value, json};

use crate::binaries;
use crate::cli::Sandbox;

fn record(ts: &str, principal: &str, tool: &str, denied: bool, prompts: &[&str]) -> String {
    let action = if denied { "refused" } else { "served" };
    let record = json!({
        "ts": ts, "tool": tool, "tier": 0, "denied": denied, "args": {}, "output_sha256": "",
        "output_len": 0, "exit_code": null, "request_id": "1", "principal": principal,
        "bundle": "sha256:0", "rule": "project.kdl:7", "action": action, "prompts": prompts,
    });
    format!("{record}\n")
}

/// A folder with two audit files; a disk was full in between.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let old = [
        record("2026-11-01T10:00:00.000Z", "ann", "prompt:deploy", false, &[]),
        "{\"ts\":\"2026\n".to_owned(),
        record("2026-11-02T10:00:00.000Z", "bob", "prompt:deploy", true, &[]),
    ];
    let new = [
        record("2026-11-03T10:00:00.500Z", "ann", "begin_session", false, &["deploy"]),
        record("2026-11-04T10:00:00.000Z", "ann", "prompt:\u{1b}[31m", false, &[]),
    ];
    sandbox.write("old.jsonl", &old.concat());
    sandbox.write("new.jsonl", &new.concat());
    sandbox
}

/// Returns the days of the records that are printed.
fn days(sandbox: &Sandbox, options: &str) -> Vec<u32> {
    let run = sandbox.relay(&format!("audit show old.jsonl new.jsonl --json {options}")).ends(0);
    let day = |line: &str| {
        let record: Value = serde_json::from_str(line).expect("a record, as it is in the file");
        record["ts"].as_str().expect("a time")[8..10].parse().expect("a day")
    };
    run.stdout.lines().map(day).collect()
}

#[test]
fn records_are_chosen_by_prompt_caller_time_and_outcome() {
    let sandbox = sandbox();
    assert_eq!(days(&sandbox, ""), [1, 2, 3, 4]);
    assert_eq!(days(&sandbox, "--prompt deploy"), [1, 2, 3]);
    assert_eq!(days(&sandbox, "--prompt deploy --principal ann"), [1, 3]);
    assert_eq!(days(&sandbox, "--since 2026-11-03"), [3, 4]);
    assert_eq!(days(&sandbox, "--since 2026-11-03T10:00:01Z"), [4]);
    assert_eq!(days(&sandbox, "--since 1s"), Vec::<u32>::new());
    assert_eq!(days(&sandbox, "--denied"), [2]);
    assert_eq!(days(&sandbox, "--until 2026-11-03T10:00:00Z"), [1, 2]);
    assert_eq!(days(&sandbox, "--since 2026-11-02 --until 2026-11-04"), [2, 3]);
    let wrong = sandbox.relay("audit show old.jsonl --since yesterday").ends(2);
    assert!(wrong.stderr.contains("`yesterday` is not a time"), "{wrong:?}");
    sandbox.relay("audit show missing.jsonl").ends(2);
}

#[test]
fn records_are_chosen_by_client_label_rule_and_tier() {
    let sandbox = Sandbox::new();
    let with = |ts: u32, key: &str, value: Value| {
        let text =
            record(&format!("2026-11-0{ts}T10:00:00.000Z"), "ann", "server_info", false, &[]);
        let mut record: Value = serde_json::from_str(&text).expect("a record");
        record[key] = value;
        format!("{record}\n")
    };
    let lines = [
        with(1, "client", json!("claude-code")),
        with(2, "tool", json!("prompt:deploy")),
        with(3, "tier", json!(3)),
        with(4, "rule", json!("policy.no-egress: no-egress: SEC-12 (policy.kdl:9)")),
        with(5, "observed", json!(["policy.push-main (policy.kdl:12)"])),
        with(6, "rule", json!("policy.no-egress-2: SEC-13 (policy.kdl:99)")),
    ];
    sandbox.write("old.jsonl", &lines.concat());
    sandbox.write("new.jsonl", "");
    for (options, expected) in [
        ("--client claude-code", &[1][..]),
        ("--tool prompt:deploy", &[2]),
        ("--tier 3", &[3]),
        ("--tier 3 --tier 0 --tool server_info --rule project.kdl:7", &[1, 3, 5]),
        ("--rule no-egress", &[4]),
        ("--rule policy.no-egress", &[4]),
        ("--rule policy.kdl:9", &[4]),
        ("--rule push-main", &[5]),
        ("--rule policy.kdl:12", &[5]),
        ("--rule policy", &[]),
    ] {
        assert_eq!(days(&sandbox, options), expected, "{options}");
    }
    let table = sandbox.relay("audit show old.jsonl --client claude-code").ends(0).stdout;
    assert!(table.contains("  claude-code: server_info  "), "{table}");
    sandbox.relay("audit show old.jsonl --tier 4").ends(2);
}

#[test]
fn each_record_is_an_event_of_cef_and_of_leef() {
    let sandbox = sandbox();
    for (form, begin) in [("cef", "CEF:0|relay|relay|"), ("leef", "LEEF:2.0|relay|relay|")] {
        let run = sandbox.relay(&format!("audit show old.jsonl new.jsonl --format {form}")).ends(0);
        assert_eq!(run.stdout.lines().count(), 4, "{run:?}");
        assert!(run.stdout.lines().all(|line| line.starts_with(begin)), "{run:?}");
        assert!(!run.stdout.contains('\u{1b}'), "{run:?}");
    }
    sandbox.relay("audit show old.jsonl --format xml").ends(2);
}

#[test]
fn the_table_has_a_line_for_each_record() {
    let sandbox = sandbox();
    let run = sandbox.relay("audit show old.jsonl new.jsonl").ends(0);
    let lines: Vec<_> = run.stdout.lines().collect();
    assert_eq!(lines.len(), 5, "{run:?}");
    assert!(lines[0].starts_with("time "), "{run:?}");
    assert!(lines[1].contains("served     ann ") && lines[1].ends_with("project.kdl:7"), "{run:?}");
    assert!(!run.stdout.contains('\u{1b}'), "{run:?}");
    assert!(run.stderr.contains("1 line is no record"), "{run:?}");
}

#[test]
fn a_followed_file_is_printed_as_it_grows_and_after_a_rotation() {
    let sandbox = sandbox();
    let mut command = sandbox.command(binaries::relay());
    command.args("audit show new.jsonl --follow --json --principal ann".split(' '));
    let mut process = Process::start(command);
    let mut printed = BufReader::new(process.stdout()).lines();
    let mut day = || {
        let line = printed.next().expect("a line").expect("UTF-8");
        serde_json::from_str::<Value>(&line).expect("a record")["ts"].clone()
    };
    assert_eq!(day(), "2026-11-03T10:00:00.500Z");
    assert_eq!(day(), "2026-11-04T10:00:00.000Z");
    let path = sandbox.path("new.jsonl");
    let append = |text: &str| {
        let file = OpenOptions::new().append(true).create(true).open(&path);
        file.expect("a file").write_all(text.as_bytes()).expect("it is written");
    };
    let whole = record("2026-11-05T10:00:00.000Z", "ann", "x", false, &[]);
    let (first, second) = whole.split_at(40);
    append(&record("2026-11-05T09:00:00.000Z", "bob", "x", false, &[]));
    append(first);
    append(second);
    assert_eq!(day(), "2026-11-05T10:00:00.000Z");
    std::fs::rename(&path, sandbox.path("old.1.jsonl")).expect("a rename");
    append(&record("2026-11-06T10:00:00.000Z", "ann", "x", false, &[]));
    assert_eq!(day(), "2026-11-06T10:00:00.000Z");
}
