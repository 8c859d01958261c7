//! The summary and the chapters of a prompt, generated from its text where its author left them
//! out.
//!
//! The summary is the first sentence of the first paragraph of text; the chapters are the markdown
//! headings.

use relay_bundle::{Prompt, lower_case};
use relay_engine::derived::briefing_text;

use crate::model::Setting;
use crate::outline::{Outline, Wanted};
use crate::source::Spanned;

/// Returns the summary and the chapters of a prompt: the author's, or those of its text.
///
/// An author's description replaces a missing summary, so that an index displays the searched text.
/// If the author left chapters out, the words of the name that both lack become chapters too, so
/// that the prompt is found by them.
pub(super) fn complete(
    name: &str,
    text: &str,
    description: Option<&str>,
    summary: Option<Spanned<String>>,
    chapters: Option<Vec<Spanned<String>>>,
) -> (Option<Setting<String>>, Vec<Setting<String>>) {
    let has = Written { summary: summary.is_some(), chapters: chapters.is_some() };
    let made = Generated::of(name, text, description, has);
    let written = |Spanned { value, at }: Spanned<String>| Setting { value, at: Some(at) };
    let generated = |value: String| Setting { value, at: None };
    let chapters = match chapters {
        Some(chapters) => chapters.into_iter().map(written).collect(),
        None => made.chapters.into_iter().map(generated).collect(),
    };
    (summary.map(written).or_else(|| made.summary.map(generated)), chapters)
}

/// Returns whether the missing summary and chapters of a prompt are those that its text gives.
pub(crate) fn are_generated(prompt: &Prompt) -> bool {
    let Prompt { name, description, summary, chapters, rendering, .. } = prompt;
    let has = Written {
        summary: summary.as_ref().is_some_and(|summary| summary.at.is_some()),
        // An author may have written an empty list.
        chapters: chapters.iter().all(|chapter| chapter.at.is_some()),
    };
    let text = briefing_text::without_frame(rendering);
    let are = |description: Option<&str>| {
        let made = Generated::of(name, &text, description, has);
        (has.summary || made.summary.as_ref() == summary.as_ref().map(|it| &it.value))
            && (has.chapters || made.chapters.iter().eq(chapters.iter().map(|it| &it.value)))
    };
    let written = description.as_ref().filter(|description| description.at.is_some());
    let written = written.map(|it| it.value.as_str()).filter(|text| !text.trim().is_empty());
    // If a text lacks a summary, its first heading became the description.
    are(written) || (summary.is_none() && are(None))
}

/// The parts that an author wrote.
#[derive(Clone, Copy)]
struct Written {
    summary: bool,
    chapters: bool,
}

/// The parts that a text gives in place of missing ones.
#[derive(Default)]
struct Generated {
    summary: Option<String>,
    chapters: Vec<String>,
}

impl Generated {
    fn of(name: &str, text: &str, description: Option<&str>, has: Written) -> Self {
        if has.summary && has.chapters {
            return Self::default();
        }
        let wanted =
            Wanted { paragraph: !has.summary && description.is_none(), headings: !has.chapters };
        let Outline { paragraph, headings: mut chapters, cut: _ } = Outline::of(text, wanted);
        if has.summary {
            return Self { summary: None, chapters };
        }
        let first_sentence = || paragraph.map(|paragraph| paragraph.first_sentence());
        let summary = description.map(str::to_owned).or_else(first_sentence);
        if has.chapters {
            return Self { summary, chapters: Vec::new() };
        }
        add_words(name, summary.as_deref(), &mut chapters);
        Self { summary, chapters }
    }
}

/// Adds the words of a name that the chapters and the summary lack.
fn add_words(name: &str, summary: Option<&str>, chapters: &mut Vec<String>) {
    let texts = summary.into_iter().chain(chapters.iter().map(String::as_str));
    // The texts are joined by a line end, so every word found lies within one of them.
    let mut known = lower_case(&texts.collect::<Vec<_>>().join("\n"));
    let parts = name.split(|at: char| matches!(at, '-' | '_' | '.' | '/') || at.is_whitespace());
    for word in parts.filter(|part| !part.is_empty()) {
        let lower = lower_case(word);
        if !known.contains(&lower) {
            known.extend(["\n", &lower]);
            chapters.push(word.to_owned());
        }
    }
}

#[cfg(test)]
mod tests;
