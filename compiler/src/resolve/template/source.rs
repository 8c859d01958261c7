//! The text of a template and the way from its bytes to places in the project.

use relay_bundle::SharedText;
use std::ops::Range;

use super::error::{Line, TemplateError};
use super::offsets::Offsets;
use crate::diagnostic::Diagnostics;
use crate::source::{FileId, Span};

/// The place of a template's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TextPlace {
    /// The whole of this file: offsets in the text are offsets in the file.
    Verbatim(FileId),
    /// A string of KDL that has a place for each character of the text.
    Written(Span, Offsets),
    /// Another string. Spans are that of the whole string, and messages name the line of the template.
    Value(Span),
}

impl TextPlace {
    /// Returns the place of a text whose string was written so, at `at`.
    pub(crate) fn of_value(at: Span, written: Option<&str>, text: &str) -> Self {
        let offsets = written.and_then(|written| Offsets::new(written, text));
        offsets.map_or(Self::Value(at), |offsets| Self::Written(at, offsets))
    }
}

/// A text of a prompt, or an included file.
pub(super) struct Source {
    pub(super) text: SharedText,
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
            TextPlace::Value(at) | TextPlace::Written(at, _) => at.file,
        }
    }

    /// Returns the place of a range of the text.
    pub(super) fn spot(&self, range: &Range<usize>) -> Spot {
        let start = range.start.min(self.text.len());
        let end = range.end.clamp(start, self.text.len());
        match &self.place {
            TextPlace::Verbatim(file) => Spot { at: file.span(start, end), line: Line(None) },
            TextPlace::Written(at, offsets) if start < end => {
                let Range { start, end } = offsets.written(&(start..end));
                let begin = at.start as usize;
                Spot { at: at.file.span(begin + start, begin + end), line: Line(None) }
            }
            TextPlace::Value(at) | TextPlace::Written(at, _) => {
                let before = self.text.as_bytes().get(..start).unwrap_or_default();
                let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
                Spot { at: *at, line: Line(Some(line)) }
            }
        }
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
