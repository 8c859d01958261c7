//! The reasons for a selection, as human output.

use std::collections::BTreeMap;

use super::answer::{BudgetEnd, Decided, Hit, Score, Selected, SelectionExplained};
use crate::answer::size::{counted, grouped};
use crate::answer::table::{self, number, text};
use crate::output::{bad, bold, dim};
use crate::text::{printable, wrapped};

/// Renders the places of each tag, the scores, the use of the budget, and the note.
pub(super) fn render(answer: &SelectionExplained, note: Option<&str>, width: usize) -> String {
    let SelectionExplained { format_version: _, gated: _, decided, keywords, refused, selected } =
        answer;
    let mut page = decided.as_ref().map(decision).unwrap_or_default();
    if let Some(keywords) = keywords {
        page.push_str(&line("keywords of the call:", &listed(keywords)));
    }
    if let Some(refused) = refused {
        page.push_str(&format!("{} {}\n", bad("rejected:"), printable(refused)));
    }
    let Some(selected) = selected else { return page };
    if keywords.is_none() {
        page.push_str(&line("tags:", &listed(&selected.tags)));
    }
    page.push_str(&facts(selected));
    page.push_str(&lists(selected, width));
    if let Some(note) = note {
        page.push_str(&format!("\n{}", dim(wrapped(note, "", width))));
    }
    page
}

/// Returns the decision on a call, and the rule that decides.
fn decision(decided: &Decided) -> String {
    let Decided { decision, tier, rule, reason, at } = decided;
    let at = at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default();
    let decision = line("decision:", &format!("{decision}, tier {tier}"));
    decision + &line("rule:", &format!("{rule}{at}: {reason}"))
}

fn facts(selected: &Selected) -> String {
    let Selected { tags, unmatched, sent, hits, bytes, budget_bytes, .. } = selected;
    let mut page = String::new();
    let mut lost = |name, lost: Vec<String>| {
        if !lost.is_empty() {
            page.push_str(&line(name, &listed(&lost)));
        }
    };
    let is_sent =
        |tag: &&String| !unmatched.contains(tag) && !hits.iter().any(|hit| hit.tag == **tag);
    lost("no match for:", unmatched.clone());
    lost("no further match for:", tags.iter().filter(is_sent).cloned().collect());
    if !sent.is_empty() {
        page.push_str(&line("sent before:", &listed(sent)));
    }
    let over = if bytes > budget_bytes {
        ": priority 10, and a prompt asked for by its name alone, are sent regardless of it"
    } else {
        ""
    };
    let used = format!("{} of {} bytes{over}", grouped(*bytes), grouped(*budget_bytes));
    page.push_str(&line("budget:", &used));
    page
}

fn lists(selected: &Selected, width: usize) -> String {
    let Selected { full, index, names, scores, hits, cut, .. } = selected;
    let mut found: BTreeMap<&str, Vec<&Hit>> = BTreeMap::new();
    for hit in hits {
        found.entry(&hit.prompt).or_default().push(hit);
    }
    // Scores are in the order of both lists.
    let (in_full, as_entries) = scores.split_at_checked(full.len()).unwrap_or_default();
    let mut page = heading("in full", full.len());
    page.push_str(&rows(in_full, &found, width));
    if let Some(cut) = cut {
        page.push_str(&budget_end(cut, full.contains(&cut.prompt), width));
    }
    page.push_str(&heading("as index entries", index.len()));
    page.push_str(&rows(as_entries, &found, width));
    page.push_str(&heading("by name", names.len()));
    if !names.is_empty() {
        page.push_str(&wrapped(&names.join(", "), "  ", width));
    }
    page
}

/// Returns a sentence on the first prompt over the budget.
fn budget_end(cut: &BudgetEnd, is_named: bool, width: usize) -> String {
    let BudgetEnd { prompt, bytes, left } = cut;
    let text = format!(
        "`{}` has {} and {} left: {}",
        prompt,
        counted(*bytes, "byte"),
        if *left == 1 { "1 was".to_owned() } else { format!("{} were", grouped(*left)) },
        if is_named {
            "it comes because its name is the only tag"
        } else {
            "it and all prompts after it are index entries"
        },
    );
    dim(wrapped(&text, "  ", width)).to_string()
}

fn line(name: &str, value: &str) -> String {
    format!("{} {}\n", bold(name), printable(value))
}

fn listed(words: &[String]) -> String {
    if words.is_empty() { "(none)".to_owned() } else { words.join(", ") }
}

fn heading(what: &str, count: usize) -> String {
    format!("\n{} {}\n", bold(what), dim(format!("({})", counted(count, "prompt"))))
}

fn rows(scores: &[Score], found: &BTreeMap<&str, Vec<&Hit>>, width: usize) -> String {
    if scores.is_empty() {
        return String::new();
    }
    let rows = scores.iter().map(|Score { prompt, priority, score, matching, bytes }| {
        let places = places(found.get(prompt.as_str()).map(Vec::as_slice).unwrap_or_default());
        let points = match score {
            Some(points) => format!("{matching} × {priority} = {}", grouped(*points)),
            None => "always".to_owned(),
        };
        let places: Vec<String> =
            places.iter().map(|(tag, at)| format!("{tag} ({})", at.join(", "))).collect();
        vec![prompt.clone(), points, grouped(*bytes), places.join(", ")]
    });
    let columns =
        [text("prompt"), number("tags × priority"), number("briefing bytes"), text("found")];
    table::draw(&columns, rows.collect(), width)
}

/// Groups the hits of one prompt by tag, in their order.
fn places<'h>(hits: &[&'h Hit]) -> Vec<(&'h str, Vec<&'h str>)> {
    let mut places: Vec<(&str, Vec<&str>)> = Vec::new();
    for Hit { prompt: _, tag, place } in hits {
        match places.last_mut() {
            Some((last, at)) if *last == tag => at.push(place),
            _ => places.push((tag, vec![place])),
        }
    }
    places
}
