//! Contents -> what servers answer from beside them: pages of lists, texts of briefings, pieces of URI
//! templates.
//!
//! The compiler makes them by these functions. A bundle has them as bytes, so that a server computes
//! nothing; and whoever signs a bundle could have altered them, so that a server says something else
//! than what was reviewed. So [`mismatches`] makes them again.

pub mod briefing_text;
pub mod pages;
pub mod tools;
pub mod uri_template;

mod mismatch;

pub use mismatch::{Mismatch, mismatches};

/// Returns a text as one line of at most so many characters; `…` ends one that was cut.
#[must_use]
pub fn line(text: &str, chars_max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // There are no more characters than bytes.
    if line.len() <= chars_max || line.chars().count() <= chars_max {
        return line;
    }
    let mut cut: String = line.chars().take(chars_max.saturating_sub(1)).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

