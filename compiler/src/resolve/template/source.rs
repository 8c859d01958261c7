//! The text of a template and the way from its bytes to places in the project.

use std::ops::Range;
use std::sync::Arc;

use super::error::{Line, TemplateError};
use crate::diagnostic::Diagnostics;
use crate::source::{FileId, Span};

/// The place of a template's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextPlace {
    /// The whole of this file: offsets in the text are offsets in the file.
    Verbatim(FileId),
    /// The value of a KDL string. In a literal string, offsets in the text are offsets in the
    /// quotes; with escapes or dedent, spans are that of the whole value, and messages name the
    /// line of the template.
    Value(Span),
    /// The same for a string between `"""`: each line that is not empty has so many bytes of white space
    /// before it.
    Indented(Span, usize),
}

impl TextPlace {
    /// Returns the place of a text whose string was written so, at `at`.
    pub(crate) fn of_value(at: Span, written: Option<&str>, text: &str) -> Self {
        let indent = written.and_then(|written| indent_of(written, text));
        indent.map_or(Self::Value(at), |indent| Self::Indented(at, indent))
    }
}

/// The quotes and the line end before the first line of a text of several.
const OPENING: &str = "\"\"\"\n";

/// Returns the bytes of white space before each line of `text`, if that and the quotes are all by which it differs from
/// its string.
fn indent_of(written: &str, text: &str) -> Option<usize> {
    let lines = written.strip_prefix(OPENING)?.strip_suffix("\"\"\"")?;
    let (lines, indent) = lines.rsplit_once('\n')?;
    let mut lines = lines.split('\n');
    let equal = text.split('\n').all(|line| {
        let found = lines.next();
        let indent = if line.is_empty() { "" } else { indent };
        found.and_then(|found| found.strip_prefix(indent)) == Some(line)
    });
    // An escape in a text with itself removed is not found again.
    (equal && lines.next().is_none() && !text.contains('\\')).then_some(indent.len())
}

/// A text of a prompt, or an included file.
pub(super) struct Source {
    pub(super) text: Arc<str>,
    pub(super) place: TextPlace,
}

/// The place of something in a template, ready for a diagnostic.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot {
    pub(super) at: Span,
    pub(super) line: Line,
}

impl Source {
    /// Returns the file to which the paths of includes are relative.
    pub(super) fn file(&self) -> FileId {
        match self.place {
            TextPlace::Verbatim(file) => file,
            TextPlace::Value(at) | TextPlace::Indented(at, _) => at.file,
        }
    }

    /// Returns the place of a range of the text.
    pub(super) fn spot(&self, range: &Range<usize>) -> Spot {
        let start = range.start.min(self.text.len());
        let end = range.end.clamp(start, self.text.len());
        match self.place {
            TextPlace::Verbatim(file) => Spot { at: file.span(start, end), line: Line(None) },
            // Escapes, and the quotes of several lines, make the value longer than its text and two
            // quotes.
            TextPlace::Value(at) if start < end && bytes(at) == self.text.len() + 2 => {
                let quoted = at.start as usize + 1;
                Spot { at: at.file.span(quoted + start, quoted + end), line: Line(None) }
            }
            TextPlace::Indented(at, indent) if start < end => {
                let begin = at.start as usize + OPENING.len();
                let offset = |place: usize| begin + place + indent * self.lines_before(place);
                Spot { at: at.file.span(offset(start), offset(end - 1) + 1), line: Line(None) }
            }
            TextPlace::Value(at) | TextPlace::Indented(at, _) => {
                let before = self.text.as_bytes().get(..start).unwrap_or_default();
                let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
                Spot { at, line: Line(Some(line)) }
            }
        }
    }

    /// Returns how many lines with text begin up to a place.
    fn lines_before(&self, place: usize) -> usize {
        let mut begin = 0;
        let begun = self.text.split('\n').take_while(|line| {
            let is_before = begin <= place;
            begin += line.len() + 1;
            is_before
        });
        begun.filter(|line| !line.is_empty()).count()
    }

    /// Reports an error at a range of the text.
    pub(super) fn report(
        &self,
        range: &Range<usize>,
        out: &mut Diagnostics,
        error: impl FnOnce(Span, Line) -> TemplateError,
    ) {
        let Spot { at, line } = self.spot(range);
        out.report(at, error(at, line));
    }

    /// Returns the text at a range for messages: on one line and shortened.
    pub(super) fn excerpt(&self, range: &Range<usize>) -> String {
        const CHARS_MAX: usize = 60;
        let written = self.text.get(range.clone()).unwrap_or_default();
        let mut words = written.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some((end, _)) = words.char_indices().nth(CHARS_MAX) {
            words.truncate(end);
            words.push('…');
        }
        words
    }
}

fn bytes(at: Span) -> usize {
    at.end.saturating_sub(at.start) as usize
}
