//! The `expect`s for people: a line each, then the untouched things.

use std::collections::BTreeMap;

use relay_compiler::Span;

use super::answer::{At, Tested, Untouched};
use crate::answer::size::counted;
use crate::output::{bad, bold, doubtful, good};
use crate::text::{padded, printable, widest};

/// The most lines of each kind of untouched things.
const UNTOUCHED_MAX: usize = 10;

/// An `expect`, and the environments in which it holds or fails.
#[derive(Default)]
struct Line<'t> {
    environments: usize,
    failed: Vec<&'t str>,
}

pub(super) fn draw(tested: &Tested) -> String {
    let Tested { format_version: _, environments, untouched, passed: _, failed: _ } = tested;
    let mut lines: BTreeMap<(&At, Span, &str), Line<'_>> = BTreeMap::new();
    for environment in environments {
        for test in &environment.tests {
            let line = lines.entry((&test.at, test.span, &test.question)).or_default();
            line.environments += 1;
            if !test.passed {
                line.failed.push(environment.environment.as_deref().unwrap_or("none"));
            }
        }
    }
    let mut page = String::new();
    let places: Vec<String> = lines.keys().map(|(at, ..)| at.to_string()).collect();
    let width = widest(places.iter().map(String::as_str));
    for (((_, _, question), line), place) in lines.iter().zip(&places) {
        let is_ok = line.failed.is_empty();
        let word = if is_ok { good("pass").to_string() } else { bad("FAIL").to_string() };
        page.push_str(&format!("{word}  {}  {}", padded(place, width), printable(question)));
        if !is_ok && line.failed.len() < line.environments {
            page.push_str(&format!("  (environment: {})", line.failed.join(", ")));
        }
        page.push('\n');
    }
    let unasked: Vec<_> = environments.iter().filter(|environment| !environment.asked).collect();
    let why = "not run: the project has errors";
    if unasked.len() == environments.len() {
        return format!("{}\n", bad(why));
    }
    for environment in &unasked {
        let name = environment.environment.as_deref().unwrap_or("none");
        page.push_str(&format!("{}  environment: {name}: {why}\n", doubtful("----")));
    }
    let failed = lines.values().filter(|line| !line.failed.is_empty()).count();
    let count = counted(lines.len(), "expect");
    match (lines.len(), failed) {
        (0, _) => return page + "the project has no expect; docs/skills.md shows them\n",
        (_, 0) => page.push_str(&format!("{}\n", good(format!("{count}, all hold")))),
        (_, failed) => page.push_str(&format!("{}\n", bad(format!("{count}, {failed} not met")))),
    }
    if untouched.is_empty() && unasked.is_empty() {
        page.push_str("every tenant, role, skill, prompt and resource is touched\n");
    }
    page + &untouched_list(untouched)
}

fn untouched_list(untouched: &[Untouched]) -> String {
    let mut page = String::new();
    for of_kind in untouched.chunk_by(|a, b| a.kind == b.kind) {
        let kind = of_kind.first().map_or("", |first| first.kind);
        let title = format!("no expect touches {}", counted(of_kind.len(), kind));
        page.push_str(&format!("\n{}\n", bold(format!("{title}:"))));
        let shown = of_kind.get(..UNTOUCHED_MAX).unwrap_or(of_kind);
        let names: Vec<String> = shown.iter().map(|each| printable(&each.name)).collect();
        let width = widest(names.iter().map(String::as_str));
        for (each, name) in shown.iter().zip(&names) {
            page.push_str(&format!("  {}  {}\n", padded(name, width), each.at));
        }
        if let more @ 1.. = of_kind.len() - shown.len() {
            page.push_str(&format!("  and {more} more: --json lists all\n"));
        }
    }
    page
}
