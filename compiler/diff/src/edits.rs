//! Two texts in parts -> how one is made of the other.
//!
//! The one place that runs the algorithm. It is generic in the parts and in the consumer, and every
//! further use would be compiled again: a tenth of this program once was copies of it.

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{DiffOp, group_diff_ops};

/// Returns how `b` is made of `a`, in order: as few operations as a bounded search finds. Ranges are
/// indexes of parts.
#[must_use]
pub fn edits(a: &[&str], b: &[&str]) -> Vec<DiffOp> {
    let mut hook = Compact::new(Replace::new(Capture::new()), a, b);
    let Ok(()) = myers::diff(&mut hook, a, 0..a.len(), b, 0..b.len());
    hook.into_inner().into_inner().into_ops()
}

/// Returns the groups of the operations that are at most twice `context` equal parts apart, each with
/// `context` equal parts around it; empty if the texts are equal.
#[must_use]
pub fn edit_groups(a: &[&str], b: &[&str], context: usize) -> Vec<Vec<DiffOp>> {
    group_diff_ops(edits(a, b), context)
}

/// Returns the lines of a text, each with its end.
#[must_use]
pub fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Returns the words of a text and the white space between them.
pub(crate) fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_space = first.is_whitespace();
        let end = rest.find(|it: char| it.is_whitespace() != is_space).unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        words.push(word);
        rest = after;
    }
    words
}
