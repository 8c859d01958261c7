//! The text of a file as reports show it.

use std::ops::Range;

use relay_engine::invisible;

use crate::secret;

/// A text with secrets masked and every character visible, which keeps each character of the file.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) text: String,
    /// For each character that was written as another number of bytes: the byte after it in the
    /// file, and in the text.
    shifts: Vec<(usize, usize)>,
}

impl Drawn {
    /// Draws a file with secrets in these ranges.
    pub(super) fn new(bytes: &[u8], secrets: impl Iterator<Item = Range<usize>>) -> Self {
        let bytes = &*secret::with_stars(bytes, secrets);
        let mut drawn = Self { text: String::with_capacity(bytes.len()), shifts: Vec::new() };
        if let Ok(text) = std::str::from_utf8(bytes) {
            drawn.push(text, 0);
            return drawn;
        }
        let mut at = 0;
        for chunk in bytes.utf8_chunks() {
            drawn.push(chunk.valid(), at);
            drawn.text.extend(chunk.invalid().iter().map(|_| '?'));
            at += chunk.valid().len() + chunk.invalid().len();
        }
        drawn
    }

    /// Draws the text that begins at `at` in the file.
    fn push(&mut self, text: &str, at: usize) {
        let mut copied = 0;
        for found in invisible::search(text) {
            self.text.push_str(text.get(copied..found.range.start).unwrap_or_default());
            let letters = text.get(found.range.clone()).unwrap_or_default();
            copied = found.range.start;
            for letter in letters.chars() {
                copied += letter.len_utf8();
                match letter {
                    // A lone `\r` is a line end.
                    '\r' => self.text.push('\r'),
                    letter => self.escape(letter, at + copied),
                }
            }
        }
        self.text.push_str(text.get(copied..).unwrap_or_default());
    }

    fn escape(&mut self, letter: char, end: usize) {
        self.text.extend(letter.escape_unicode());
        self.shifts.push((end, self.text.len()));
    }

    /// Returns the offset in the text of the byte at `offset` of the file.
    pub(super) fn to_drawn(&self, offset: usize) -> usize {
        let next = self.shifts.partition_point(|(written, _)| *written <= offset);
        match next.checked_sub(1).and_then(|last| self.shifts.get(last)) {
            Some((written, drawn)) => drawn + (offset - written),
            None => offset,
        }
    }

    /// Returns the offset in the file of the byte at `offset` of the text.
    pub(super) fn to_written(&self, offset: usize) -> usize {
        let next = self.shifts.partition_point(|(_, drawn)| *drawn <= offset);
        match next.checked_sub(1).and_then(|last| self.shifts.get(last)) {
            Some((written, drawn)) => written + (offset - drawn),
            None => offset,
        }
    }
}
