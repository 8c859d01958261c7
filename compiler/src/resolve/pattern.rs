//! Patterns of names: reported at the character where they go wrong.

use std::collections::BTreeSet;

use miette::Diagnostic;
use relay_engine::glob::{self, GlobError};
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::source::{Sources, Span, Spanned};

/// Returns the patterns that are valid, each once; reports the others.
pub(super) fn valid(
    sources: &Sources<'_>,
    patterns: Vec<Spanned<String>>,
    out: &mut Diagnostics,
) -> Vec<Spanned<String>> {
    let mut seen = BTreeSet::new();
    let is_valid = |pattern: &Spanned<String>| match glob::check(&pattern.value) {
        Ok(()) => seen.insert(pattern.value.clone()),
        Err(reason) => {
            let at = place(sources, pattern, reason);
            out.report(at, BadPattern { pattern: pattern.value.clone(), reason, at });
            false
        }
    };
    patterns.into_iter().filter(is_valid).collect()
}

/// Returns the character at which a pattern goes wrong; all of it if it is written with escapes.
fn place(sources: &Sources<'_>, pattern: &Spanned<String>, reason: GlobError) -> Span {
    let Spanned { value, at } = pattern;
    let byte = match reason {
        GlobError::Empty => return *at,
        GlobError::Unclosed(byte) | GlobError::EmptySet(byte) | GlobError::Reversed(byte) => byte,
    };
    let file = sources.file(at.file);
    let written = file.bytes.get(at.start as usize..at.end as usize).unwrap_or_default();
    let mut windows = written.windows(value.len().max(1));
    let Some(start) = windows.position(|window| window == value.as_bytes()) else { return *at };
    let start = at.start as usize + start + byte;
    let length = value.get(byte..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
    at.file.span(start, start + length)
}

/// A broken pattern would match nothing, or other names than its author means.
#[derive(Debug, Error, Diagnostic)]
#[error("`{pattern}` is not a pattern: {reason}")]
#[diagnostic(
    code(pattern::invalid),
    help(
        "`*` is any run of characters, `?` one, `[a-z]` one of a set, `[!a-z]` one of all others; everything else is itself"
    )
)]
struct BadPattern {
    pattern: String,
    reason: GlobError,
    #[label(primary, "here")]
    at: Span,
}
