//! Texts whose bytes know their origin, and whose unknown parts are marked.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::mark::{Mark, display, is_hole, is_mark};
use crate::span::Span;

/// A text with its place in the classified text.
#[derive(Debug, Clone)]
pub(crate) struct Text<'t> {
    pub(crate) bytes: Cow<'t, [u8]>,
    /// The place of the whole text.
    pub(crate) span: Span,
    origin: Origin,
}

/// The position of a text's bytes in its span.
#[derive(Debug, Clone)]
enum Origin {
    /// One after the other, from this place.
    Exact(u32),
    /// Somewhere in this place.
    Whole(Span),
    /// In runs, sorted by their first bytes.
    Runs(Vec<Run>),
}

/// Some bytes of a text.
#[derive(Debug, Clone, Copy)]
struct Run {
    from: u32,
    span: Span,
    exact: bool,
}

impl<'t> Text<'t> {
    /// Returns a text that equals the text at its place.
    pub(crate) fn exact(bytes: &'t [u8], span: Span) -> Self {
        Self { bytes: Cow::Borrowed(bytes), span, origin: Origin::Exact(span.start) }
    }

    /// Returns a text from somewhere in a span.
    pub(crate) fn from_span(bytes: impl Into<Cow<'t, [u8]>>, span: Span) -> Self {
        Self { bytes: bytes.into(), span, origin: Origin::Whole(span) }
    }

    /// Returns the text with owned bytes.
    pub(crate) fn owned(self) -> Text<'static> {
        let Self { bytes, span, origin } = self;
        Text { bytes: Cow::Owned(bytes.into_owned()), span, origin }
    }

    /// Returns the place of some of its bytes.
    pub(crate) fn place(&self, start: usize, end: usize) -> Span {
        match &self.origin {
            Origin::Exact(at) => {
                let at = *at as usize;
                Span::new(at + start, at + end.max(start))
            }
            Origin::Whole(whole) => *whole,
            Origin::Runs(runs) => {
                let first = place_of(runs, start);
                let last = place_of(runs, end.max(start + 1) - 1);
                match (first, last) {
                    (Some(first), Some(last)) => first.to(last),
                    _ => self.span,
                }
            }
        }
    }

    /// Returns the place of a span of its text.
    pub(crate) fn place_of(&self, span: Span) -> Span {
        self.place(span.start as usize, span.end as usize)
    }

    /// Returns the rest of the text from a byte on.
    pub(crate) fn after(&self, start: usize) -> Text<'t> {
        self.part(start, self.bytes.len())
    }

    /// Returns a part of the text.
    pub(crate) fn part(&self, start: usize, end: usize) -> Text<'t> {
        let end = end.min(self.bytes.len());
        let start = start.min(end);
        let bytes = match &self.bytes {
            Cow::Borrowed(bytes) => Cow::Borrowed(bytes.get(start..end).unwrap_or(&[])),
            Cow::Owned(bytes) => Cow::Owned(bytes.get(start..end).unwrap_or(&[]).to_vec()),
        };
        let span = self.place(start, end);
        let origin = match &self.origin {
            Origin::Exact(_) => Origin::Exact(span.start),
            Origin::Whole(whole) => Origin::Whole(*whole),
            Origin::Runs(_) => {
                let mut builder = TextBuilder::new(span);
                builder.push_part(self, start, end);
                return builder.finish();
            }
        };
        Text { bytes, span, origin }
    }

    /// Returns the text with a wider place, such as that of its quotes too.
    pub(crate) fn within(self, span: Span) -> Self {
        Self { span, ..self }
    }

    /// Returns whether any of its bytes stands for any text.
    pub(crate) fn has_hole(&self) -> bool {
        self.bytes.iter().any(|byte| is_hole(*byte))
    }

    /// Returns whether all of it is literal.
    pub(crate) fn is_literal(&self) -> bool {
        !self.bytes.iter().any(|byte| is_mark(*byte))
    }

    /// Returns the text for people, with `…` for each unknown part.
    pub(crate) fn display(&self) -> Cow<'_, str> {
        display(&self.bytes)
    }
}

/// Returns the place of a byte; for an inexact run, the place of the whole run.
fn place_of(runs: &[Run], byte: usize) -> Option<Span> {
    let byte = Span::new(byte, byte).start;
    let at = runs.partition_point(|run| run.from <= byte).checked_sub(1)?;
    let run = runs.get(at)?;
    if !run.exact {
        return Some(run.span);
    }
    let start = run.span.start + (byte - run.from);
    Some(Span { start, end: start + 1 })
}

/// Assembles a text.
#[derive(Debug)]
pub(crate) struct TextBuilder {
    bytes: Vec<u8>,
    span: Span,
    runs: SmallVec<[Run; 1]>,
}

impl TextBuilder {
    pub(crate) fn new(span: Span) -> Self {
        Self { bytes: Vec::new(), span, runs: SmallVec::new() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds bytes that equal the text at their place, or come from somewhere in it.
    pub(crate) fn push(&mut self, bytes: &[u8], span: Span) {
        let exact = span.len() == bytes.len();
        self.run(span, exact);
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds a byte that comes from a span.
    pub(crate) fn push_byte(&mut self, byte: u8, span: Span) {
        self.run(span, false);
        self.bytes.push(byte);
    }

    /// Adds a mark that comes from a span.
    pub(crate) fn push_mark(&mut self, mark: Mark, span: Span) {
        self.push_byte(mark.byte(), span);
    }

    /// Adds bytes that all come from the same span.
    pub(crate) fn push_made(&mut self, bytes: &[u8], span: Span) {
        if !bytes.is_empty() {
            self.run(span, false);
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Adds part of another text.
    pub(crate) fn push_part(&mut self, text: &Text<'_>, start: usize, end: usize) {
        let bytes = text.bytes.get(start..end).unwrap_or(&[]);
        match &text.origin {
            Origin::Exact(_) => self.push(bytes, text.place(start, end)),
            Origin::Whole(whole) => {
                self.run(*whole, false);
                self.bytes.extend_from_slice(bytes);
            }
            Origin::Runs(runs) => self.push_runs(runs, bytes, start),
        }
    }

    /// Adds the bytes of a text of runs, from a byte on.
    fn push_runs(&mut self, runs: &[Run], bytes: &[u8], start: usize) {
        let mut from = Span::new(start, start).start;
        let mut rest = bytes;
        let first = runs.partition_point(|run| run.from <= from).saturating_sub(1);
        let mut runs = runs.get(first..).unwrap_or(&[]).iter().peekable();
        while !rest.is_empty()
            && let Some(run) = runs.next()
        {
            let length = runs.peek().map_or(rest.len(), |next| (next.from - from) as usize);
            let Some((piece, others)) = rest.split_at_checked(length.min(rest.len())) else {
                return;
            };
            if piece.is_empty() {
                continue;
            }
            if run.exact {
                let at = (run.span.start + (from - run.from)) as usize;
                self.push(piece, Span::new(at, at + piece.len()));
            } else if run.span.len() == 1 {
                piece.iter().for_each(|byte| self.push(&[*byte], run.span));
            } else {
                self.push_made(piece, run.span);
            }
            from = from.saturating_add(Span::new(0, piece.len()).end);
            rest = others;
        }
    }

    /// Adds another text.
    pub(crate) fn push_text(&mut self, text: &Text<'_>) {
        self.push_part(text, 0, text.bytes.len());
    }

    fn run(&mut self, span: Span, exact: bool) {
        let from = Span::new(0, self.bytes.len()).end;
        if let Some(last) = self.runs.last() {
            let follows = last.exact && exact && last.span.start + (from - last.from) == span.start;
            if follows || (!last.exact && !exact && last.span == span) {
                return;
            }
        }
        self.runs.push(Run { from, span, exact });
    }

    pub(crate) fn finish(self) -> Text<'static> {
        let Self { bytes, span, runs } = self;
        let origin = match runs.as_slice() {
            [] => Origin::Whole(span),
            [run] if run.exact => Origin::Exact(run.span.start),
            [run] => Origin::Whole(run.span),
            _ => Origin::Runs(runs.into_vec()),
        };
        Text { bytes: Cow::Owned(bytes), span, origin }
    }
}
