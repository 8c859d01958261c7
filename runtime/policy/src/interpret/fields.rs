//! Fields during the expansion of a word.

use crate::span::Span;
use crate::value::{Field, Mark, Stream, TextBuilder, is_hole};

/// The fields of a word that is being expanded.
pub(super) struct Fields<'d, 'c> {
    pub(super) done: &'d mut Vec<Field<'c>>,
    pub(super) open: Option<TextBuilder>,
    pub(super) word: Span,
    pub(super) spread: bool,
    pub(super) stream: Option<Box<Stream>>,
}

impl<'d, 'c> Fields<'d, 'c> {
    /// Returns the fields of a word, which follow those that are done.
    pub(super) fn of(word: Span, done: &'d mut Vec<Field<'c>>) -> Self {
        Self { done, open: None, word, spread: false, stream: None }
    }

    pub(super) fn builder(&mut self) -> &mut TextBuilder {
        let word = self.word;
        self.open.get_or_insert_with(|| TextBuilder::new(word))
    }

    /// Ends the current field.
    pub(super) fn cut(&mut self) {
        let spread = std::mem::take(&mut self.spread);
        let stream = self.stream.take();
        if let Some(open) = self.open.take() {
            self.done.push(Field { text: open.finish(), spread, stream });
        }
    }

    /// Adds a value of an expansion; outside of quotes it is split and may be a pattern.
    pub(super) fn value(&mut self, value: &[u8], span: Span, quoted: bool) {
        if quoted {
            self.builder().push_made(value, span);
            return;
        }
        for byte in value {
            match *byte {
                b' ' | b'\t' | b'\n' => self.cut(),
                b'*' => self.builder().push_mark(Mark::Star, span),
                b'?' | b'[' => self.builder().push_mark(Mark::Query, span),
                other => {
                    self.spread |= is_hole(other);
                    self.builder().push_byte(other, span);
                }
            }
        }
    }
}
