//! A word as passed to a program.

use super::mark::Mark;
use super::stream::Stream;
use super::text::Text;
use crate::span::Span;

/// A word as passed to a program.
#[derive(Debug, Clone)]
pub(crate) struct Field<'c> {
    pub(crate) text: Text<'c>,
    /// Whether it may expand to any number of words.
    pub(crate) spread: bool,
    /// The output of the process substitution in it.
    pub(crate) stream: Option<Box<Stream>>,
}

impl<'c> Field<'c> {
    pub(crate) fn new(text: Text<'c>) -> Self {
        Self { text, spread: false, stream: None }
    }

    /// Returns an unknown field.
    pub(crate) fn unknown(span: Span, spread: bool) -> Self {
        Self { spread, ..Self::new(Text::from_span(Mark::Hole.text(), span)) }
    }
}
