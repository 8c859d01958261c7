//! The simplest selection that could be right: every text lower-cased, every tag looked for.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use relay_bundle::Prompt;
use relay_engine::select::{BudgetEnd, Limits, Score, Selection};
use unicode_normalization::UnicodeNormalization as _;

/// Lower case as it is defined: composed, by character, and every sigma alike.
fn lower(text: &str) -> String {
    text.nfc().flat_map(char::to_lowercase).collect::<String>().replace('ς', "σ")
}

fn distinct(given: &[String]) -> BTreeSet<String> {
    given.iter().map(|tag| lower(tag.trim())).filter(|tag| !tag.is_empty()).collect()
}

/// Returns the texts of a prompt in which tags are searched.
pub(super) fn texts(prompt: &Prompt) -> Vec<String> {
    prompt.summary.iter().chain(&prompt.chapters).map(|text| lower(&text.value)).collect()
}

/// In how many places tags are found.
pub(super) fn places(prompt: &Prompt, given: &[String]) -> usize {
    let (name, texts) = (lower(&prompt.name), texts(prompt));
    let found = |tag: &String| {
        usize::from(*tag == name) + texts.iter().filter(|text| text.contains(tag)).count()
    };
    distinct(given).iter().map(found).sum()
}

fn matches(tag: &str, name: &str, texts: &[String]) -> bool {
    tag == name || texts.iter().any(|text| text.contains(tag))
}

fn matching(name: &str, texts: &[String], tags: &BTreeSet<String>) -> usize {
    tags.iter().filter(|tag| matches(tag, name, texts)).count()
}

pub(super) fn score(prompt: &Prompt, given: &[String]) -> Score {
    if prompt.priority.value == 10 {
        return Score::Always;
    }
    let matching = matching(&lower(&prompt.name), &texts(prompt), &distinct(given));
    Score::Points { matching, priority: prompt.priority.value }
}

/// Tags asked of prompts, which are sorted by name.
pub(super) struct Question<'p> {
    prompts: &'p [Prompt],
    /// The only tag, if there is one.
    only: Option<String>,
    /// How many tags match each prompt.
    counts: Vec<usize>,
    unmatched: Vec<usize>,
}

impl<'p> Question<'p> {
    /// Asks with the tags `given`; `texts` are those of each prompt.
    pub(super) fn new(prompts: &'p [Prompt], texts: &[Vec<String>], given: &[String]) -> Self {
        let tags = distinct(given);
        let names: Vec<String> = prompts.iter().map(|prompt| lower(&prompt.name)).collect();
        let known = || prompts.iter().zip(names.iter().zip(texts));
        let counts = known().map(|(_, (name, texts))| matching(name, texts, &tags)).collect();
        let mut in_order: Vec<String> = Vec::new();
        for tag in given.iter().map(|tag| lower(tag.trim())) {
            if !tag.is_empty() && !in_order.contains(&tag) {
                in_order.push(tag);
            }
        }
        let is_unmatched = |tag: &str| {
            !known()
                .any(|(prompt, (name, texts))| prompt.briefing.value && matches(tag, name, texts))
        };
        let numbered = in_order.iter().enumerate();
        let unmatched =
            numbered.filter(|(_, tag)| is_unmatched(tag)).map(|(place, _)| place).collect();
        let only = in_order.first().filter(|_| in_order.len() == 1).cloned();
        Self { prompts, only, counts, unmatched }
    }

    /// Selects from those that are still to be sent.
    pub(super) fn select(&self, sent: &[u32], limits: Limits) -> Selection {
        let Self { prompts, only, counts, unmatched } = self;
        let sent: BTreeSet<u32> = sent.iter().copied().collect();
        let mut out = Selection::default();
        let mut matched = Vec::new();
        for (index, (prompt, matching)) in prompts.iter().zip(counts).enumerate() {
            if sent.contains(&(index as u32)) || !prompt.briefing.value {
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
        let mut omitted = out.index.split_off(out.index.len().min(limits.entries_max));
        for list in [&mut out.index, &mut omitted] {
            let is_named = |index: &usize| Some(lower(&prompts[*index].name)) == *only;
            let named = list.iter().position(is_named).filter(|_| limits.named_in_full);
            if let Some(named) = named {
                let named = list.remove(named);
                out.bytes += prompts[named].body.value.len();
                out.full.push(named);
            }
        }
        out.index_omitted = omitted.len();
        let room = if omitted.is_empty() { limits.entries_max - out.index.len() } else { 0 };
        out.names_omitted = out.names.len().saturating_sub(room);
        out.names.truncate(room);
        out.unmatched.clone_from(unmatched);
        out
    }
}
