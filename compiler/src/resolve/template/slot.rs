//! Free text in values and in rendered texts.
//!
//! The value of a free-text argument is an object of its own. Printing it writes a mark, so a
//! capture (`set` block, macro, `call`) holds a mark. Only [`Slot`] writes marks: their characters
//! are rejected in templates, in string constants and in listed values, which are the sources of
//! all other characters.

use std::fmt;
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::{Object, ObjectRepr};
use relay_bundle::Segment;

/// The first character of a mark; the argument's index and [`MARK_END`] follow.
const MARK_START: char = '\u{FDD0}';
const MARK_END: char = '\u{FDD1}';

/// The value of the free-text argument with this index.
#[derive(Debug)]
pub(super) struct Slot(pub(super) usize);

impl Object for Slot {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MARK_START}{}{MARK_END}", self.0)
    }
}

/// Returns the value of a free-text argument.
pub(super) fn slot(index: usize) -> Value {
    Value::from_object(Slot(index))
}

/// Returns the first character that is reserved for marks and rewritten templates, with its place:
/// both are forbidden to authors.
pub(super) fn find_reserved(text: &str) -> Option<(usize, char)> {
    text.char_indices().find(|(_, character)| ('\u{FDD0}'..='\u{FDEF}').contains(character))
}

/// Cuts a text at its marks.
pub(super) fn segments(text: &str) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut rest = text;
    while let Some((literal, index, after)) = next_mark(rest) {
        if !literal.is_empty() {
            segments.push(Segment::Literal(literal.into()));
        }
        segments.push(Segment::Slot(index));
        rest = after;
    }
    if !rest.is_empty() {
        segments.push(Segment::Literal(rest.into()));
    }
    segments
}

/// Returns the text before the first mark, the mark's argument, and the text after it.
fn next_mark(text: &str) -> Option<(&str, u32, &str)> {
    let (before, mark) = text.split_once(MARK_START)?;
    let (index, after) = mark.split_once(MARK_END)?;
    Some((before, index.parse().ok()?, after))
}

/// Returns the argument of the first mark in a text.
pub(super) fn first_slot(text: &str) -> Option<usize> {
    text.contains(MARK_START)
        .then(|| next_mark(text).map_or(usize::MAX, |(_, index, _)| index as usize))
}

/// Returns the first argument in a text of free text alone, which callers can make empty.
pub(super) fn only_free_text(value: &Value) -> Option<usize> {
    let text = value.as_str().unwrap_or_default();
    let is_slot = |segment: &Segment| matches!(segment, Segment::Slot(_));
    first_slot(text).filter(|_| segments(text).iter().all(is_slot))
}
