//! The simplest selection that could be right: every text lower-cased, every tag looked for.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use relay_bundle::Prompt;
use relay_engine::select::{BudgetEnd, Limits, Score, Selection};

/// Lower case as it is defined: by character, and every sigma alike.
fn lower(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect::<String>().replace('ς', "σ")
}

fn distinct(given: &[String]) -> BTreeSet<String> {
    given.iter().map(|tag| lower(tag.trim())).filter(|tag| !tag.is_empty()).collect()
}

/// What tags are searched in.
pub(super) fn texts(prompt: &Prompt) -> Vec<String> {
    prompt.summary.iter().chain(&prompt.chapters).map(|text| lower(&text.value)).collect()
}

/// In how many places tags are found.
pub(super) fn places(prompt: &Prompt, given: &[String]) -> usize {
    let texts = texts(prompt);
    let found = |tag: &String| texts.iter().filter(|text| text.contains(tag)).count();
    distinct(given).iter().map(found).sum()
}

fn matching(texts: &[String], tags: &BTreeSet<String>) -> usize {
    tags.iter().filter(|tag| texts.iter().any(|text| text.contains(*tag))).count()
}

pub(super) fn score(prompt: &Prompt, given: &[String]) -> Score {
    if prompt.priority.value == 10 {
        return Score::Always;
    }
    let matching = matching(&texts(prompt), &distinct(given));
    Score::Points { matching, priority: prompt.priority.value }
}

/// How many tags match each prompt, given the texts of each.
pub(super) fn counts(texts: &[Vec<String>], given: &[String]) -> Vec<usize> {
    let tags = distinct(given);
    texts.iter().map(|texts| matching(texts, &tags)).collect()
}

/// Selects from prompts that are sorted by name.
pub(super) fn select(
    prompts: &[Prompt],
    counts: &[usize],
    sent: &[u32],
    limits: Limits,
) -> Selection {
    let sent: BTreeSet<u32> = sent.iter().copied().collect();
    let mut out = Selection::default();
    let mut matched = Vec::new();
    for (index, (prompt, matching)) in prompts.iter().zip(counts).enumerate() {
        if sent.contains(&(index as u32)) {
            continue;
        }
        if prompt.priority.value == 10 {
            out.full.push(index);
            out.bytes += prompt.body.value.len();
        } else if *matching > 0 {
            let score = matching * usize::from(prompt.priority.value);
            matched.push((Reverse(score), Reverse(prompt.priority.value), index));
        } else {
            out.names.push(index);
        }
    }
    matched.sort_unstable();
    let mut left = limits.budget_bytes.saturating_sub(out.bytes);
    for (_, _, prompt) in matched {
        let bytes = prompts[prompt].body.value.len();
        if out.cut.is_none() && bytes <= left {
            left -= bytes;
            out.bytes += bytes;
            out.full.push(prompt);
        } else {
            out.cut = out.cut.or(Some(BudgetEnd { prompt, bytes, left }));
            out.index.push(prompt);
        }
    }
    let room = limits.entries_max;
    out.index_omitted = out.index.len().saturating_sub(room);
    out.index.truncate(room);
    let room = room - out.index.len();
    out.names_omitted = out.names.len().saturating_sub(room);
    out.names.truncate(room);
    out
}
