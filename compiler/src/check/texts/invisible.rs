//! A text with invisible characters.
//!
//! A reviewer approves the displayed text, and an agent obeys the actual one.

use miette::Diagnostic;
use relay_engine::invisible;
use thiserror::Error;

use super::place::Owner;
use crate::source::Span;

/// The most characters of a run that are named.
const NAMED_MAX: usize = 4;

/// Agents read characters that are invisible to people: tags that spell instructions, marks of
/// width zero, marks that change the direction of writing, control characters. A reviewer approves
/// another text than agents get. Joiners and selectors that a script or an emoji needs are allowed.
#[derive(Debug, Error, Diagnostic)]
#[error("the text holds {found}")]
#[diagnostic(code(invisible::text))]
pub(super) struct InvisibleText {
    found: String,
    #[help]
    help: String,
    #[label(primary, "not visible here")]
    at: Span,
}

impl InvisibleText {
    /// Returns the report of characters of the kind `rule`.
    pub(super) fn new(rule: &'static str, text: &str, owner: Option<&Owner>, at: Span) -> Self {
        let count = text.chars().count();
        let characters = match count {
            1 => "an invisible character".to_owned(),
            count => format!("{count} invisible characters"),
        };
        let named = text.chars().take(NAMED_MAX).map(|letter| invisible::named(letter).to_string());
        let mut named = named.collect::<Vec<_>>().join(", ");
        if count > NAMED_MAX {
            named.push_str(&format!(" and {} more", count - NAMED_MAX));
        }
        let (remove, if_needed) = match count {
            1 => ("remove it", "; if the text needs it"),
            _ => ("remove them", "; if the text needs them"),
        };
        let mut help = match invisible::spelled(text) {
            Some(spelled) => format!("they spell `{spelled}`: {remove}"),
            None => remove.to_owned(),
        };
        if let Some(node) = owner.and_then(|owner| owner.allows.as_ref()) {
            let allowed = format!("`allow-invisible {rule} because=\"…\"`");
            help.push_str(&format!("{if_needed}, write {allowed} in the braces of {node}"));
        }
        Self { found: format!("{characters} ({rule}): {named}"), help, at }
    }
}

/// A suppression is for one kind of characters. With a mistyped name it would suppress nothing, and
/// its text would be an error.
#[derive(Debug, Error, Diagnostic)]
#[error("unknown kind `{rule}` of invisible characters")]
#[diagnostic(code(invisible::unknown_kind))]
pub(super) struct UnknownKind {
    pub(super) rule: String,
    #[help]
    pub(super) help: String,
    #[label(primary, "not known")]
    pub(super) at: Span,
}

/// An obsolete suppression would admit hidden instructions one day.
#[derive(Debug, Error, Diagnostic)]
#[error("`allow-invisible {rule}` suppresses nothing")]
#[diagnostic(code(invisible::idle_suppression), severity(Warning), help("remove it"))]
pub(super) struct IdleInvisible {
    pub(super) rule: String,
    #[label(primary, "no text here has such characters")]
    pub(super) at: Span,
}
