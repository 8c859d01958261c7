//! `examples/homelab/GATE.md`: every conversation in it is held with servers of that example.

use std::fs;

use relay_compiler::Options;
use serde_json::{Value, json};

use super::house::{House, SIGNER};
use super::server::{Client, modern};
use crate::bundle::sample;
use crate::support::{Memory, compiled, contents, root};

/// A call and what the document shows of its answer.
struct Turn {
    line: usize,
    call: Value,
    expected: String,
}

#[test]
fn the_conversations_in_the_document_are_reproduced() {
    let files = Memory::folder(&root().join("examples/homelab"));
    let (project, report) = compiled(&files, "project.kdl", &Options::default());
    let bundle = sample::sealed(&contents(&project).expect(&report), &[SIGNER]);
    let replicas = [replica(&bundle), replica(&bundle)];
    let mut clients =
        replicas.each_ref().map(|house| Client::start(house, &["--config", "server.toml"]));
    let text = fs::read_to_string(root().join("examples/homelab/GATE.md")).expect("the document");
    let turns = turns(&text);
    assert_eq!(turns.len(), 5, "all four behaviours");
    let mut handles: Vec<String> = Vec::new();
    for Turn { line, call, expected } in turns {
        let client = &mut clients[usize::from(call["replica"] == "second")];
        let arguments = with_handles(&call["arguments"].to_string(), &handles);
        let arguments: Value = serde_json::from_str(&arguments).expect("JSON");
        let params = json!({ "name": call["tool"], "arguments": arguments });
        let result = client.get("tools/call", modern(params));
        assert_eq!(result["isError"], false, "GATE.md:{line}: {result}");
        let blocks = result["content"].as_array().expect("blocks").iter();
        let said: Vec<_> = blocks.map(|block| block["text"].as_str().expect("text")).collect();
        let handle = &result["_meta"]["dev.relay/briefing"]["briefing"];
        handles.extend(handle.as_str().map(ToOwned::to_owned));
        assert_matches_document(line, &with_handles(&expected, &handles), &said.join("\n"));
    }
}

/// A server with the key that its sisters have.
fn replica(bundle: &[u8]) -> House {
    let house = House::of(bundle);
    house.write("briefing.key", "5a".repeat(32));
    house.write("server.toml", "[[briefing.keys]]\nid = 1\nkey-file = \"briefing.key\"\n");
    house
}

/// The n-th handle of the document, counted from one, is written `‹briefing n›`.
fn with_handles(text: &str, handles: &[String]) -> String {
    let mut text = text.to_owned();
    for (place, handle) in handles.iter().enumerate() {
        text = text.replace(&format!("‹briefing {}›", place + 1), handle);
    }
    text
}

/// The blocks of the document: `json` is a call, the `text` after it the answer.
fn turns(document: &str) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut lines = document.lines().enumerate();
    while let Some((number, fence)) = lines.next() {
        let Some(language) = fence.strip_prefix("```").filter(|language| !language.is_empty())
        else {
            continue;
        };
        let block: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        match (language, turns.last_mut()) {
            ("json", _) => turns.push(Turn {
                line: number + 1,
                call: serde_json::from_str(&block.join("\n")).expect("a call"),
                expected: String::new(),
            }),
            ("text", Some(turn)) => turn.expected = block.join("\n"),
            _ => {}
        }
    }
    turns
}

/// A line `…` matches any lines that are left out.
fn assert_matches_document(line: usize, expected: &str, said: &str) {
    assert!(!expected.is_empty(), "GATE.md:{line} shows no answer");
    let mut rest = said;
    let mut pieces = expected.split("\n…\n").peekable();
    let mut is_first = true;
    while let Some(piece) = pieces.next() {
        let is_last = pieces.peek().is_none();
        let at = if is_last { rest.rfind(piece) } else { rest.find(piece) };
        let at =
            at.unwrap_or_else(|| panic!("GATE.md:{line}: not said:\n{piece}\n\nsaid:\n{rest}"));
        assert!(!is_first || at == 0, "GATE.md:{line}: it begins otherwise:\n{rest}");
        rest = &rest[at + piece.len()..];
        is_first = false;
    }
    assert!(rest.is_empty(), "GATE.md:{line}: it goes on:\n{rest}");
}
