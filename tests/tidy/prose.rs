//! Shapes of English that a reader stumbles over, counted in comments: STYLE, section 11. A count may
//! fall and never rise.

use std::fs;

use regex::Regex;

use super::{relative, sources};

/// The folders whose comments are read.
const CRATES: [&str; 11] = [
    "compiler/src",
    "compiler/cli/src",
    "compiler/diff/src",
    "runtime/src",
    "runtime/bundle/src",
    "runtime/engine/src",
    "runtime/hook/src",
    "runtime/keeper/src",
    "runtime/machine/src",
    "runtime/policy/src",
    "runtime/ssh/src",
];

/// A shape, and how many comments may have it.
const SHAPES: [(&str, usize); 5] = [
    // A doc comment begins with a verb or the thing.
    (r"^//[/!] What\b", 0),
    // The positive case is the main statement.
    (r"\b(is|are|was|were) none\b|\b(that|which) (is|are) no\b", 1),
    // Words of another English than that of manuals.
    (r"\b(nobody|whoever|whatever|excuse|mend)\b", 1),
    (r"\bthere is no such\b", 0),
    // "What" as a noun: the thing has a name.
    (r"\b[Ww]hat (it|they|is|are|was|a|the|this|each|an)\b", 17),
];

/// A negation. Code, such as `None`, is left out.
const NEGATION: &str = r"(?i-u)\b(not|no|never|none|neither|nor|without|cannot)\b|n't\b";

/// How many comment lines in a thousand may hold a negation. Readers get the positive case first;
/// prohibitions and absences that are the point remain.
const NEGATIONS_PER_MILLE_MAX: usize = 60;

#[test]
fn comments_have_no_more_odd_shapes_than_before() {
    let (comments, mut over) = (comments(), Vec::new());
    for (shape, max) in SHAPES {
        let shape = Regex::new(&format!("(?-u){shape}")).unwrap();
        let odd = comments.iter().filter(|(_, line)| shape.is_match(line));
        let found: Vec<String> = odd.map(|(place, line)| format!("{place}: {line}")).collect();
        if found.len() > max {
            over.push(format!("{shape}: {} of at most {max}:\n{}", found.len(), found.join("\n")));
        }
    }
    assert!(over.is_empty(), "{}", over.join("\n\n"));
}

#[test]
fn comments_say_the_positive_case() {
    let negation = Regex::new(NEGATION).unwrap();
    // Every second part of a line is between backticks.
    let is_negative = |line: &str| line.split('`').step_by(2).any(|text| negation.is_match(text));
    let comments = comments();
    let count = comments.iter().filter(|(_, line)| is_negative(line)).count();
    let share = count * 1000 / comments.len();
    assert!(
        share <= NEGATIONS_PER_MILLE_MAX,
        "{share} of 1,000 comment lines hold a negation, at most {NEGATIONS_PER_MILLE_MAX} may: say the \
         positive case as the main statement"
    );
}

/// Returns the comment lines of all crates, each with its place.
fn comments() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for path in CRATES.into_iter().flat_map(sources) {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.starts_with("//") {
                all.push((format!("{}:{number}", relative(&path)), line.to_owned()));
            }
        }
    }
    all
}
