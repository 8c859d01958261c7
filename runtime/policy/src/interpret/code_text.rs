//! Values as code.

use crate::parse::ParseError;
use crate::span::Span;
use crate::value::{Field, Mark, Text, TextBuilder};

/// Joins fields with blanks to a text of code.
pub(super) fn join_words(fields: &[Field<'_>]) -> Option<Text<'static>> {
    let first = fields.first()?;
    let last = fields.last()?;
    let mut builder = TextBuilder::new(first.text.span.to(last.text.span));
    for (number, field) in fields.iter().enumerate() {
        if number > 0 {
            let end = field.text.span.start;
            builder.push_byte(b' ', Span { start: end, end });
        }
        builder.push_text(&field.text);
    }
    Some(builder.finish())
}

/// Returns code in which each mark is replaced by syntax with the same meaning. Unknown text
/// becomes a variable that is always unset.
pub(super) fn readable<'t>(text: &Text<'t>) -> Text<'t> {
    if text.is_literal() {
        return text.clone();
    }
    let mut builder = TextBuilder::new(text.span);
    let mut plain = 0;
    for (at, byte) in text.bytes.iter().enumerate() {
        let Some(mark) = Mark::of(*byte) else { continue };
        let written: &[u8] = match mark {
            Mark::Hole | Mark::Made | Mark::Output | Mark::Secret | Mark::Credential => b"$_",
            Mark::Name => b"0",
            Mark::Star => b"*",
            Mark::Query => b"?",
            Mark::Home => b"~",
            Mark::Work => b".",
            Mark::Element => b" ",
        };
        builder.push_part(text, plain, at);
        builder.push_made(written, text.place(at, at + 1));
        plain = at + 1;
    }
    builder.push_part(text, plain, text.bytes.len());
    builder.finish()
}

/// Returns the place of an error.
pub(super) fn place_of(error: &ParseError, text: &Text<'_>) -> Span {
    let at = (error.at as usize).min(text.bytes.len().saturating_sub(1));
    text.place(at, at + 1)
}
