//! Patterns: a text with one `*` at its beginning or its end.

use miette::Diagnostic;
use thiserror::Error;

use super::written::Word;
use crate::diagnostic::Diagnostics;
use crate::source::{Span, Spanned};

/// A literal `*`, as in other patterns of a shell.
const LITERAL: &str = "[*]";

/// Returns a pattern in the form of the table: the `*` at its end or beginning is the wildcard, and
/// every other one is the character.
pub(super) fn read(pattern: Spanned<String>, out: &mut Diagnostics) -> String {
    let Spanned { value: text, at } = pattern;
    let has_literal = text.contains(LITERAL);
    // The table takes a literal `*` only in a pattern that ends with its wildcard.
    let is_misplaced = has_literal && !text.ends_with('*');
    if is_misplaced || has_stray(&text.replace(LITERAL, "")) {
        out.report(at, StrayStar { pattern: text.clone(), at });
    }
    text.replace(LITERAL, "*")
}

/// Reports names with an idle `*`.
pub(super) fn check_names<'n>(names: impl Iterator<Item = Word<'n>>, out: &mut Diagnostics) {
    for Word { text, at } in names.filter(|name| has_stray(name.text)) {
        out.report(at, StrayStar { pattern: text.to_owned(), at });
    }
}

/// Reports names of programs that hold a `*`.
pub(super) fn check_programs<'n>(names: impl Iterator<Item = Word<'n>>, out: &mut Diagnostics) {
    for Word { text, at } in names.filter(|name| name.text.contains('*')) {
        out.report(at, ProgramPattern { name: text.to_owned(), at });
    }
}

/// Returns whether a text has a `*` besides the one at its end or, if that is missing, at its
/// beginning.
fn has_stray(text: &str) -> bool {
    let inner = text.strip_suffix('*').or_else(|| text.strip_prefix('*')).unwrap_or(text);
    inner.contains('*')
}

/// One `*` at the beginning or at the end matches any text. Another one would be read as the
/// character, so that the pattern misses almost every word: a tier that it should raise is lost.
#[derive(Debug, Error, Diagnostic)]
#[error("`{pattern}` has a `*` that matches nothing")]
#[diagnostic(
    code(fact::stray_star),
    help(
        "keep one `*`, at the beginning or at the end; in values that end with `*`, `[*]` is the character itself"
    )
)]
struct StrayStar {
    pattern: String,
    #[label(primary, "only one `*` at an end is a pattern")]
    at: Span,
}

/// Programs are found by their whole names. A name with a `*` misses all programs, and the intended
/// programs would count as unknown.
#[derive(Debug, Error, Diagnostic)]
#[error("the name of a program is no pattern: `{name}`")]
#[diagnostic(code(fact::program_pattern), help("write each name"))]
struct ProgramPattern {
    name: String,
    #[label(primary, "no program has this name")]
    at: Span,
}
