//! `python.jsonl`: patterns and texts with the answers of Python's `re.search`, which `python.py` records
//! and `.ci/run` asks again.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::matches;
use crate::support::root;

#[test]
fn python_gives_the_same_answers() {
    let file = root().join("tests/automaton/python.jsonl");
    let text = fs::read_to_string(file).expect("the answers of Python");
    let mut seen = BTreeSet::new();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).expect("a row");
        let (pattern, text) = (row["pattern"].as_str().unwrap(), row["text"].as_str().unwrap());
        let python = match &row["python"] {
            Value::String(error) if error == "error" => Value::from("refused"),
            answer => answer.clone(),
        };
        let expected = row.get("relay").unwrap_or(&python);
        let answer = matches(pattern, text.as_bytes()).map_or(Value::from("refused"), Value::Bool);
        assert_eq!(answer, *expected, "{pattern:?} in {text:?}");
        // A difference has a reason, and is one.
        assert_eq!(row.get("why").is_some(), row.get("relay").is_some(), "{line}");
        assert!(row.get("relay").is_none_or(|relay| *relay != python), "{line}");
        assert!(seen.insert((pattern.to_owned(), text.to_owned())), "twice: {line}");
    }
    assert!(seen.len() >= 350, "{} rows", seen.len());
}
