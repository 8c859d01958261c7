//! Names of projects and prompts, and URIs: their characters and their uniqueness.

use hashbrown::HashMap;
use miette::Diagnostic;
use relay_engine::equal_text;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::source::{Span, Spanned};

/// Every MCP client takes names up to this length.
pub(crate) const NAME_CHARS_MAX: usize = 64;

/// Returns whether `name` is valid for a node: 1 to 64 of `A–Z a–z 0–9 _ - . /`.
pub(super) fn check(name: &Spanned<String>, what: &'static str, out: &mut Diagnostics) -> bool {
    let Spanned { value, at } = name;
    let letter = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
    let slash = what == "project" && value.contains('/');
    if let Some(bad) = value.chars().find(|c| !letter(*c)).or(slash.then_some('/')) {
        let bad = match bad.is_alphanumeric() {
            true => bad.to_string(),
            false => bad.escape_default().to_string(),
        };
        out.report(*at, BadCharacter { what, name: value.clone(), bad, at: *at });
        return false;
    }
    let length = value.chars().count();
    if !(1..=NAME_CHARS_MAX).contains(&length) {
        out.report(*at, BadLength { what, length, at: *at });
        return false;
    }
    true
}

/// Sorts things by name and leaves out repeated names; also reports names that differ in case
/// alone.
pub(super) fn unique<T>(
    things: Vec<T>,
    what: &'static str,
    name: impl Fn(&T) -> &Spanned<String>,
    out: &mut Diagnostics,
) -> Vec<T> {
    let order = distinct(&things.iter().map(name).collect::<Vec<_>>(), what, out);
    // The prompts of most projects are large, many, and in order: nothing is moved.
    if order.iter().copied().eq(0..things.len()) {
        return things;
    }
    let mut things: Vec<Option<T>> = things.into_iter().map(Some).collect();
    order.into_iter().filter_map(|index| things.get_mut(index)?.take()).collect()
}

/// Returns the indexes of the first of each name, sorted by name.
fn distinct(names: &[&Spanned<String>], what: &'static str, out: &mut Diagnostics) -> Vec<usize> {
    let mut known: HashMap<&str, Span> = HashMap::with_capacity(names.len());
    let mut folded: HashMap<String, (&str, Span)> = HashMap::with_capacity(names.len());
    let mut order = Vec::with_capacity(names.len());
    for (index, Spanned { value, at }) in names.iter().enumerate() {
        let (name, at) = (value.clone(), *at);
        if let Some(&first_at) = known.get(value.as_str()) {
            let help = match at.start == at.end || first_at.start == first_at.end {
                // The name comes from a path, so its place is a file.
                true => {
                    "rename or remove one of the files; for two folders of `commands`, `prefix=\"…\"` on one of them keeps the names apart"
                }
                false => "rename or remove one of them",
            };
            out.report(at, Duplicate { what, name, help, first_at, at });
            continue;
        }
        let fold = equal_text::composed(value).to_lowercase();
        match folded.get(&fold) {
            Some(&(first, first_at)) => {
                let first = first.to_owned();
                match equal_text::composed(&first) == equal_text::composed(&name) {
                    true => out.report(at, NormalFormOnly { what, name, first_at, at }),
                    false => out.report(at, CaseOnly { what, name, first, first_at, at }),
                }
            }
            None => {
                folded.insert(fold, (value, at));
            }
        }
        known.insert(value, at);
        order.push((value.as_str(), index));
    }
    order.sort_unstable();
    order.into_iter().map(|(_, index)| index).collect()
}

/// Names appear in URIs, file names and the menus of clients, where other characters fail.
#[derive(Debug, Error, Diagnostic)]
#[error("the {what} name `{name}` has the character `{bad}`")]
#[diagnostic(
    code(name::character),
    help("letters, digits, `_`, `-` and `.` are allowed, and `/` in names of prompts")
)]
struct BadCharacter {
    what: &'static str,
    name: String,
    bad: String,
    #[label(primary, "clients could not use this name")]
    at: Span,
}

/// Clients truncate or refuse longer names.
#[derive(Debug, Error, Diagnostic)]
#[error("the {what} name has {length} characters")]
#[diagnostic(code(name::length), help("a name has 1 to {NAME_CHARS_MAX} characters"))]
struct BadLength {
    what: &'static str,
    length: usize,
    #[label(primary, "this name")]
    at: Span,
}

/// A client asks for a prompt or resource by its name, so one of the two could never be reached.
#[derive(Debug, Error, Diagnostic)]
#[error("{what} `{name}` is declared twice")]
#[diagnostic(code(name::duplicate))]
struct Duplicate {
    what: &'static str,
    name: String,
    #[help]
    help: &'static str,
    #[label("first here")]
    first_at: Span,
    #[label(primary, "again here")]
    at: Span,
}

/// The names look the same and are other characters, so people and some clients mistake one for the
/// other.
#[derive(Debug, Error, Diagnostic)]
#[error("two {what}s are named `{name}`: one with composed letters, one with decomposed ones")]
#[diagnostic(
    code(name::normal_form),
    help("rename or remove one of them; the name of a file from macOS may be decomposed")
)]
struct NormalFormOnly {
    what: &'static str,
    name: String,
    #[label("the first one")]
    first_at: Span,
    #[label(primary, "looks the same")]
    at: Span,
}

/// Some clients and file systems treat such names as one.
#[derive(Debug, Error, Diagnostic)]
#[error("{what} `{name}` differs from `{first}` in case alone")]
#[diagnostic(code(name::case_only), help("people and some clients will mix them up; rename one"))]
struct CaseOnly {
    what: &'static str,
    name: String,
    first: String,
    #[label("the first one")]
    first_at: Span,
    #[label(primary, "differs in case alone")]
    at: Span,
}
