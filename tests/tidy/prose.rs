//! Shapes of English that a reader stumbles over, counted in comments: STYLE, section 11. A count may
//! fall and never rise.

use std::fs;

use regex::Regex;

use super::{relative, sources};

/// The folders whose comments are read.
const CRATES: [&str; 7] = [
    "compiler/src",
    "compiler/cli/src",
    "compiler/diff/src",
    "runtime/src",
    "runtime/bundle/src",
    "runtime/engine/src",
    "runtime/policy/src",
];

/// A shape, and how many comments may have it.
const SHAPES: [(&str, usize); 5] = [
    // A doc comment begins with a verb or the thing.
    (r"^//[/!] What\b", 0),
    // The positive case is the main statement.
    (r"\b(is|are|was|were) none\b|\b(that|which) (is|are) no\b", 13),
    // Words of another English than that of manuals.
    (r"\b(nobody|whoever|whatever|excuse|mend)\b", 3),
    (r"\bthere is no such\b", 0),
    // "What" as a noun: the thing has a name.
    (r"\b[Ww]hat (it|they|is|are|was|a|the|this|each|an)\b", 33),
];

#[test]
fn comments_have_no_more_odd_shapes_than_before() {
    let mut over = Vec::new();
    for (shape, max) in SHAPES {
        let shape = Regex::new(&format!("(?-u){shape}")).unwrap();
        let mut found = Vec::new();
        for path in CRATES.into_iter().flat_map(sources) {
            let text = fs::read_to_string(&path).unwrap();
            for (number, line) in (1..).zip(text.lines()) {
                let line = line.trim();
                if line.starts_with("//") && shape.is_match(line) {
                    found.push(format!("{}:{number}: {line}", relative(&path)));
                }
            }
        }
        if found.len() > max {
            over.push(format!("{shape}: {} of at most {max}:\n{}", found.len(), found.join("\n")));
        }
    }
    assert!(over.is_empty(), "{}", over.join("\n\n"));
}
