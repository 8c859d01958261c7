//! The `expect`s for people: a line each, then the untouched things, then the mutants that survive.

use std::collections::BTreeMap;

use relay_compiler::Span;

use super::answer::{At, Mutants, Survivor, Tested, Untouched};
use crate::answer::size::counted;
use crate::output::{bad, bold, doubtful, good};
use crate::text::{padded, printable, widest};

/// The most lines of each kind of untouched things.
const UNTOUCHED_MAX: usize = 10;
/// The most lines of surviving mutants.
const SURVIVORS_MAX: usize = 20;

/// An `expect`, and the environments in which it holds or fails.
#[derive(Default)]
struct Line<'t> {
    environments: usize,
    failed: Vec<&'t str>,
}

pub(super) fn draw(tested: &Tested) -> String {
    let Tested { format_version: _, environments, untouched, mutants, passed: _, failed: _ } =
        tested;
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
        (0, _) if mutants.is_none() => {
            return page + "the project has no expect; docs/skills.md shows them\n";
        }
        (0, _) => page
            .push_str("the project has no expect; docs/skills.md and docs/policy.md show them\n"),
        (_, 0) => page.push_str(&format!("{}\n", good(format!("{count}, all hold")))),
        (_, failed) => page.push_str(&format!("{}\n", bad(format!("{count}, {failed} not met")))),
    }
    let is_of_rules = |each: &&Untouched| OF_RULES.contains(&each.kind);
    let (of_rules, others): (Vec<&Untouched>, Vec<&Untouched>) =
        untouched.iter().partition(is_of_rules);
    if untouched.is_empty() && unasked.is_empty() && !lines.is_empty() {
        let kinds = "tenant, role, skill, prompt";
        page.push_str(&match mutants {
            Some(_) => format!("every {kinds}, resource and rule is touched\n"),
            None => format!("every {kinds} and resource is touched\n"),
        });
    }
    if !lines.is_empty() {
        page.push_str(&untouched_list(&others, "no expect touches"));
    }
    page.push_str(&untouched_list(&of_rules, "no match, no-match or expect touches"));
    page + &mutants.as_ref().map_or_else(String::new, mutants_drawn)
}

/// The kinds of rules and their parts.
const OF_RULES: &[&str] = &["rule", "selector", "exception"];

fn mutants_drawn(mutants: &Mutants) -> String {
    let Mutants { tried, killed, score, survivors } = mutants;
    let line =
        format!("mutation score {score} %: {killed} of {} killed", counted(*tried, "mutant"));
    if survivors.is_empty() {
        return format!("\n{}\n", good(line));
    }
    let mut page = format!("\n{}\n", doubtful(line));
    let title = "without each of these, every match, no-match and expect decision still holds:";
    page.push_str(&format!("{}\n", bold(title)));
    // The parts of a rule that survives whole go with it.
    let whole = survivors.iter().filter(|each| each.kind == RULE).map(|each| each.rule.as_str());
    let whole: BTreeMap<&str, usize> =
        whole.map(|rule| (rule, parts_of(survivors, rule))).collect();
    let listed = survivors.iter();
    let listed = listed.filter(|each| each.kind == RULE || !whole.contains_key(each.rule.as_str()));
    let listed: Vec<&Survivor> = listed.collect();
    let shown = listed.get(..SURVIVORS_MAX).unwrap_or(&listed);
    let places: Vec<String> = shown.iter().map(|each| each.at.to_string()).collect();
    let names: Vec<String> = shown.iter().map(|each| printable(&each.rule)).collect();
    let widths =
        (widest(places.iter().map(String::as_str)), widest(names.iter().map(String::as_str)));
    for ((each, place), name) in shown.iter().zip(&places).zip(&names) {
        let (place, name) = (padded(place, widths.0), padded(name, widths.1));
        let removed = match whole.get(each.rule.as_str()) {
            Some(0) => "the rule itself".to_owned(),
            Some(parts) => format!("the rule itself, and {} of it", counted(*parts, "part")),
            None => printable(&each.removed),
        };
        page.push_str(&format!("  {place}  {name}  {removed}\n"));
    }
    if let more @ 1.. = listed.len() - shown.len() {
        page.push_str(&format!("  and {more} more: --json lists all\n"));
    }
    page + HINT
}

/// The lines that kill survivors.
const HINT: &str = "a `no-match` text that only this selector keeps out, a `match` for each value, or an \
                    `expect decision` kills it\n";

/// The kind of a mutant without the whole rule.
const RULE: &str = "rule";

/// Returns how many parts of a rule survive.
fn parts_of(survivors: &[Survivor], rule: &str) -> usize {
    survivors.iter().filter(|each| each.rule == rule && each.kind != RULE).count()
}

fn untouched_list(untouched: &[&Untouched], title: &str) -> String {
    let mut page = String::new();
    for of_kind in untouched.chunk_by(|a, b| a.kind == b.kind) {
        let kind = of_kind.first().map_or("", |first| first.kind);
        let title = format!("{title} {}", counted(of_kind.len(), kind));
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
