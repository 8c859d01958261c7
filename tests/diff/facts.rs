//! Facts, floors and paths: whatever lets a command pass loosens, and a command shows it.

mod apart;
mod pairs;
mod random;

use relay_bundle::Bundle;
use relay_compiler::Options;
use relay_diff::{Direction, Finding};
use relay_policy::classify::{Rules, classify};
use relay_policy::facts::Facts;

use crate::support::Memory;

/// Compiles a project with these nodes.
fn project(nodes: &str) -> Bundle {
    let policy = if nodes.contains("policy") { "" } else { "policy\n" };
    let text =
        format!("project demo\n{policy}{nodes}\nprompts {{ prompt a {{ summary A; text x }} }}");
    let files = Memory::of(&[("project.kdl", &text)]);
    let (compiled, report) = crate::support::compiled(&files, "project.kdl", &Options::default());
    let bytes = compiled.bundle.unwrap_or_else(|| panic!("{report}\n{text}"));
    Bundle::open(Box::new(bytes)).expect("a bundle")
}

/// Returns how a bundle judges a command, as `relay classify --policy` does.
fn tier(bundle: &Bundle, command: &str) -> u8 {
    let facts = Facts::open(bundle.facts().expect("facts")).expect("a table");
    let rules = Rules::of(bundle).expect("rules").expect("a policy");
    classify(command, &facts, &rules).tier.number()
}

/// Returns the findings that loosen.
fn loosening(found: &[Finding]) -> Vec<&Finding> {
    found.iter().filter(|it| it.direction == Some(Direction::NotProved)).collect()
}

/// Returns findings in lines, for messages.
fn shown(found: &[Finding]) -> String {
    let line = |it: &Finding| {
        let (direction, meaning) = (it.direction.map(Direction::word), it.meaning.as_deref());
        format!("  {direction:?} {} {:?} {meaning:?}\n", it.id(), it.change)
    };
    found.iter().map(line).collect()
}
