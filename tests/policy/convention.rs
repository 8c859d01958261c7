//! docs/tiers.md: every rule has examples, and every example holds.

use std::fs;

use super::{reasons, tier};
use crate::support::root;

#[test]
fn every_example_of_the_convention_has_its_tier() {
    let text = fs::read_to_string(root().join("docs/tiers.md")).expect("the convention");
    let mut wrong = String::new();
    let mut count = 0;
    for example in examples(&text) {
        let (want, command) = example.split_once("  ").expect("a tier, two blanks, a command");
        let want: u8 = want.parse().expect("a tier");
        let command = command.replace('␤', "\n");
        let got = tier(&command);
        count += 1;
        if got != want {
            wrong.push_str(&format!("want {want}, got {got}: {command}\n{}", reasons(&command)));
        }
    }
    assert!(count > 100, "{count} examples");
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_rule_has_examples() {
    let text = fs::read_to_string(root().join("docs/tiers.md")).expect("the convention");
    let rules = text
        .split("\n## ")
        .skip(1)
        .filter(|rule| rule.starts_with(|first: char| first.is_ascii_digit()));
    let mut count = 0;
    for rule in rules {
        assert!(rule.contains("```tiers\n"), "{}", rule.lines().next().unwrap_or(""));
        count += 1;
    }
    assert_eq!(count, 11);
}

/// Returns the lines of the blocks of examples.
fn examples(text: &str) -> impl Iterator<Item = &str> {
    text.split("```tiers\n")
        .skip(1)
        .flat_map(|block| block.split("```").next().unwrap_or("").lines())
}
