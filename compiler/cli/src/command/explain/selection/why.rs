//! Why a selection is this one, for people.

use std::collections::BTreeMap;

use super::answer::{BudgetEnd, Hit, Score, Selected, SelectionExplained};
use crate::answer::size::{counted, grouped};
use crate::answer::table::{self, number, text};
use crate::output::{bad, bold, dim};
use crate::text::{printable, wrapped};

/// Returns which tag was found where, the scores, and what the budget cut; last the note.
pub(super) fn render(answer: &SelectionExplained, note: Option<&str>, width: usize) -> String {
    let SelectionExplained { format_version: _, gated: _, keywords, refused, selected } = answer;
    let mut shown = String::new();
    if let Some(keywords) = keywords {
        shown.push_str(&line("keywords of the call:", &listed(keywords)));
    }
    if let Some(refused) = refused {
        shown.push_str(&format!("{} {}\n", bad("refused:"), printable(refused)));
    }
    let Some(selected) = selected else { return shown };
    if keywords.is_none() {
        shown.push_str(&line("tags:", &listed(&selected.tags)));
    }
    shown.push_str(&facts(selected));
    shown.push_str(&lists(selected, width));
    if let Some(note) = note {
        shown.push_str(&format!("\n{}", dim(wrapped(note, "", width))));
    }
    shown
}

fn facts(selected: &Selected) -> String {
    let Selected { tags, sent, hits, bytes, budget_bytes, .. } = selected;
    let mut shown = String::new();
    let is_found = |tag: &&String| hits.iter().any(|hit| hit.tag == **tag);
    let lost: Vec<String> = tags.iter().filter(|tag| !is_found(tag)).cloned().collect();
    if !lost.is_empty() {
        let name = if sent.is_empty() { "no match for:" } else { "no further match for:" };
        shown.push_str(&line(name, &listed(&lost)));
    }
    if !sent.is_empty() {
        shown.push_str(&line("sent before:", &listed(sent)));
    }
    let over = if bytes > budget_bytes { ", since prompts of priority 10 come always" } else { "" };
    let used = format!("{} of {} bytes{over}", grouped(*bytes), grouped(*budget_bytes));
    shown.push_str(&line("budget:", &used));
    shown
}

fn lists(selected: &Selected, width: usize) -> String {
    let Selected { full, index, names, scores, hits, cut, .. } = selected;
    let mut found: BTreeMap<&str, Vec<&Hit>> = BTreeMap::new();
    for hit in hits {
        found.entry(&hit.prompt).or_default().push(hit);
    }
    // Scores have the order of both lists.
    let (in_full, as_entries) = scores.split_at_checked(full.len()).unwrap_or_default();
    let mut shown = heading("in full", full.len());
    shown.push_str(&rows(in_full, &found, width));
    shown.push_str(&cut.as_ref().map(|cut| end(cut, width)).unwrap_or_default());
    shown.push_str(&heading("as index entries", index.len()));
    shown.push_str(&rows(as_entries, &found, width));
    shown.push_str(&heading("by name", names.len()));
    if !names.is_empty() {
        shown.push_str(&wrapped(&names.join(", "), "  ", width));
    }
    shown
}

/// Says which prompt ended the filling.
fn end(cut: &BudgetEnd, width: usize) -> String {
    let BudgetEnd { prompt, bytes, left } = cut;
    let text = format!(
        "`{}` has {} and {} left: it and all that follow come as index entries",
        prompt,
        counted(*bytes, "byte"),
        if *left == 1 { "1 was".to_owned() } else { format!("{} were", grouped(*left)) },
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
