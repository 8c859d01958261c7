//! `relay audit verify`: every way of tampering is named at its line.

use relay_engine::audit_chain::{START, chained};
use serde_json::{Value, json};

use crate::cli::Sandbox;
use crate::cli::schemas::assert_conforms;

/// Returns the lines of a chain of `count` records.
fn chain(count: u64) -> Vec<String> {
    chain_of("a", count)
}

/// Returns the lines of a chain of `count` records of a server.
fn chain_of(server: &str, count: u64) -> Vec<String> {
    let mut last = START;
    let line = |number| {
        let record = format!("{{\"ts\":\"{number}\",\"server\":\"{server}\"}}");
        let (line, link) = chained(&record, last);
        last = link;
        line + "\n"
    };
    (1..=count).map(line).collect()
}

/// Verifies files with these lines, and returns the breaks: file, line and kind.
fn breaks(files: &[&[String]]) -> Vec<String> {
    let sandbox = Sandbox::new();
    let names: Vec<String> = (0..files.len()).map(|at| format!("{at}.jsonl")).collect();
    for (name, lines) in names.iter().zip(files) {
        sandbox.write(name, &lines.concat());
    }
    let run = sandbox.relay(&format!("audit verify {} --json", names.join(" ")));
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    assert_conforms("audit-verify", &answer);
    let found = answer["breaks"].as_array().expect("a list");
    assert_eq!(answer["intact"], found.is_empty());
    assert_eq!(run.code, i32::from(!found.is_empty()), "{run:?}");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    found
        .iter()
        .map(|it| format!("{}:{} {}", text(&it["file"]), it["line"], text(&it["kind"])))
        .collect()
}

#[test]
fn an_intact_chain_is_intact_over_any_number_of_files() {
    let lines = chain(9);
    assert_eq!(breaks(&[&lines]), [""; 0]);
    assert_eq!(breaks(&[&lines[..4], &lines[4..8], &lines[8..], &[]]), [""; 0]);
    // Older files may have been removed, and a part of the end is not seen.
    assert_eq!(breaks(&[&lines[4..8]]), [""; 0]);
    let blank = ["\n".to_owned()];
    assert_eq!(breaks(&[&lines[..4], &blank, &lines[4..]]), [""; 0]);
}

#[test]
fn every_change_is_named_once_at_its_line() {
    type Change = fn(&mut Vec<String>);
    let table: [(&str, Change); 16] = [
        ("0.jsonl:3 changed", |it| it[2] = it[2].replace("\"3\"", "\"4\"")),
        ("0.jsonl:3 changed", |it| it[2] = it[2].replace("\"seq\":3", "\"seq\":2")),
        ("0.jsonl:1 changed", |it| it[0] = it[0].replace("\"1\"", "\"4\"")),
        ("0.jsonl:9 changed", |it| it[8] = it[8].replace("\"9\"", "\"4\"")),
        ("0.jsonl:3 missing", |it| drop(it.remove(2))),
        ("0.jsonl:3 missing", |it| drop(it.drain(2..6))),
        ("0.jsonl:3 missing 0.jsonl:8 moved", |it| {
            let moved = it.remove(2);
            it.insert(7, moved);
        }),
        ("0.jsonl:4 moved", |it| it.insert(3, it[0].clone())),
        ("0.jsonl:6 moved", |it| {
            for at in 0..3 {
                it.insert(5 + at, it[at].clone());
            }
        }),
        ("0.jsonl:5 new-chain", |it| {
            it.truncate(4);
            it.extend(chain_of("b", 3));
        }),
        // A record of the right number in a chain that was computed anew.
        ("0.jsonl:4 replaced", |it| {
            let second = relay_engine::audit_chain::read(it[1].trim_end()).expect("a record").link;
            it[2] = chained("{\"ts\":\"other\"}", second).0 + "\n";
        }),
        ("0.jsonl:4 unchained", |it| it.insert(3, "{\"ts\":\"other\"}\n".to_owned())),
        ("0.jsonl:4 partial", |it| it.insert(3, "{\"ts\":\"oth\n".to_owned())),
        ("0.jsonl:10 partial", |it| it.push("{\"ts\":\"oth".to_owned())),
        ("0.jsonl:3 partial", |it| it[2] = format!("{}\n", "x".repeat(3 << 20))),
        ("0.jsonl:2 changed 0.jsonl:6 missing", |it| {
            it[1] = it[1].replace("\"2\"", "\"x\"");
            it.remove(5);
        }),
    ];
    for (expected, change) in table {
        let mut lines = chain(9);
        change(&mut lines);
        assert_eq!(breaks(&[&lines]).join(" "), expected);
    }
}

#[test]
fn breaks_between_files_are_named_in_the_second() {
    let lines = chain(9);
    assert_eq!(breaks(&[&lines[..4], &lines[5..]]), ["1.jsonl:1 missing"]);
    // The newest first is the wrong order, and a file twice is one too many.
    assert_eq!(breaks(&[&lines[4..], &lines[..4]]), ["1.jsonl:1 new-chain"]);
    assert_eq!(breaks(&[&lines[4..], &lines[4..]]), ["1.jsonl:1 moved"]);
}

#[test]
fn many_breaks_are_counted() {
    let lines: Vec<String> = chain(90).into_iter().step_by(2).collect();
    let sandbox = Sandbox::of(&[("a.jsonl", &lines.concat())]);
    let answer = sandbox.relay("audit verify a.jsonl --json").ends(1).json();
    assert_eq!(answer["breaks"].as_array().map(Vec::len), Some(20));
    assert_eq!((&answer["breaks_omitted"], &answer["records"]), (&json!(24), &json!(45)));
    let text = sandbox.relay("audit verify a.jsonl").ends(1);
    assert!(text.stdout.starts_with("broken: 44 breaks, 45 records in 1 file\n"), "{text:?}");
    assert!(text.stdout.contains("a.jsonl:2: record 2 is missing before record 3\n"), "{text:?}");
}

#[test]
fn a_file_without_records_is_no_intact_chain() {
    let lines = chain(3).concat();
    let sandbox = Sandbox::of(&[("empty.jsonl", ""), ("other.jsonl", "x\n"), ("a.jsonl", &lines)]);
    for file in ["empty.jsonl", "other.jsonl"] {
        let run = sandbox.relay(&format!("audit verify {file}")).ends(2);
        let expected = format!("no line of `{file}` is a record of a chain");
        assert!(run.stderr.contains(&expected), "{run:?}");
    }
    sandbox.relay("audit verify missing.jsonl").ends(2);
    let run = sandbox.relay("audit verify a.jsonl").ends(0);
    assert!(run.stdout.starts_with("intact: 3 records in 1 file, 1 to 3\n"), "{run:?}");
    assert!(run.stderr.contains("cut off the end leave no trace"), "{run:?}");
}
