//! Patterns of names: their validity.

use std::collections::BTreeSet;

use miette::Diagnostic;
use relay_engine::glob::{self, GlobError};
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::source::{Span, Spanned};

/// The most characters of a pattern.
pub(crate) const CHARS_MAX: usize = 256;

/// Returns the patterns that are valid, each once; reports the others.
pub(super) fn valid(patterns: Vec<Spanned<String>>, out: &mut Diagnostics) -> Vec<Spanned<String>> {
    let mut seen = BTreeSet::new();
    let is_new =
        |pattern: &Spanned<String>| check(pattern, out) && seen.insert(pattern.value.clone());
    patterns.into_iter().filter(is_new).collect()
}

/// Returns whether a text is a pattern, or else reports the reason at its character.
pub(super) fn check(pattern: &Spanned<String>, out: &mut Diagnostics) -> bool {
    let Spanned { value, at } = pattern;
    let chars = value.chars().count();
    if chars > CHARS_MAX {
        out.report(*at, TooLong { chars, at: *at });
        return false;
    }
    let (place, reason, help) = match glob::check(value) {
        Ok(()) => return true,
        Err(GlobError::Empty) => (None, "it is empty", "`*` matches every name"),
        Err(GlobError::Unclosed(place)) => {
            (Some(place), "this `[` has no `]`", "close it; `[[]` matches the character itself")
        }
        Err(GlobError::EmptySet(place)) => {
            (Some(place), "this set is empty", "put characters between `[` and `]`")
        }
        Err(GlobError::Reversed(place)) => {
            (Some(place), "this range ends before it begins", "write the lower character first")
        }
    };
    let at = place.map_or(*at, |place| character(pattern, place));
    out.report(at, BadPattern { pattern: value.clone(), reason, help, at });
    false
}

/// Returns the place of a character of a value; that of the whole value if the value has escapes.
fn character(Spanned { value, at }: &Spanned<String>, place: usize) -> Span {
    let (first, end) = (at.start as usize, at.end as usize);
    let quotes = match (end - first).checked_sub(value.len()) {
        Some(0) => 0,
        Some(2) => 1,
        _ => return *at,
    };
    let start = first + quotes + place;
    let bytes = value.get(place..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    at.file.span(start, start + bytes)
}

/// An invalid pattern would match nothing, unnoticed.
#[derive(Debug, Error, Diagnostic)]
#[error("`{pattern}` is not a pattern: {reason}")]
#[diagnostic(code(pattern::malformed))]
struct BadPattern {
    pattern: String,
    reason: &'static str,
    #[help]
    help: &'static str,
    #[label(primary, "{reason}")]
    at: Span,
}

/// Patterns are matched at every call, and the time grows with their length.
#[derive(Debug, Error, Diagnostic)]
#[error("the pattern has {chars} characters")]
#[diagnostic(code(pattern::too_long), help("at most {CHARS_MAX} characters are allowed"))]
struct TooLong {
    chars: usize,
    #[label(primary, "this pattern")]
    at: Span,
}
