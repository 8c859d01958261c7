//! The text of one scan, read byte by byte.
//!
//! Every read is counted in tests, which prove by the count that a scan is linear.

#[cfg(test)]
use std::cell::Cell;
use std::ops::Range;

use super::mark::CUT;

/// The text of one scan. Beyond its end there are line feeds, which end every value.
pub(super) struct Text<'t> {
    bytes: &'t [u8],
    /// Whether the text continued: a secret at its end may be incomplete.
    is_cut: bool,
    #[cfg(test)]
    visits: Cell<usize>,
}

impl<'t> Text<'t> {
    /// Returns a text to scan. The mark of a cut at its end is outside of the scan.
    pub(super) fn new(text: &'t str) -> Self {
        let body = text.strip_suffix(CUT);
        Self {
            bytes: body.unwrap_or(text).as_bytes(),
            is_cut: body.is_some(),
            #[cfg(test)]
            visits: Cell::new(0),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether a range ends where a cut text does.
    pub(super) fn is_cut_at(&self, end: usize) -> bool {
        self.is_cut && end >= self.len()
    }

    /// Returns the byte at a place; a line feed beyond the end.
    pub(super) fn at(&self, place: usize) -> u8 {
        self.visit(1);
        self.bytes.get(place).copied().unwrap_or(b'\n')
    }

    /// Returns the byte before a place; a line feed at the start.
    pub(super) fn before(&self, place: usize) -> u8 {
        place.checked_sub(1).map_or(b'\n', |place| self.at(place))
    }

    /// Returns the bytes of a range, as far as the text goes.
    pub(super) fn get(&self, range: Range<usize>) -> &'t [u8] {
        let end = range.end.min(self.len());
        let found = self.bytes.get(range.start.min(end)..end).unwrap_or_default();
        self.visit(found.len());
        found
    }

    /// Returns whether these bytes are at a place.
    pub(super) fn has(&self, place: usize, bytes: &[u8]) -> bool {
        self.get(place..place.saturating_add(bytes.len())) == bytes
    }

    /// Returns the end of the run of such bytes that begins at a place.
    pub(super) fn run(&self, from: usize, is_in: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| is_in(**byte)).count();
        self.visit(length + 1);
        from + length
    }

    /// Returns the place after spaces and tabs.
    pub(super) fn skip_blanks(&self, from: usize) -> usize {
        self.run(from, |byte| matches!(byte, b' ' | b'\t'))
    }

    /// Returns the first of these bytes in a range.
    pub(super) fn find(&self, range: Range<usize>, byte: u8) -> Option<usize> {
        let end = range.end.min(self.len());
        let found = memchr::memchr(byte, self.bytes.get(range.start..end)?);
        self.visit(found.map_or(end - range.start, |length| length + 1));
        found.map(|length| range.start + length)
    }

    /// Returns the first place of a text in a range.
    pub(super) fn find_text(&self, range: Range<usize>, text: &[u8]) -> Option<usize> {
        let end = range.end.min(self.len());
        let found = memchr::memmem::find(self.bytes.get(range.start..end)?, text);
        self.visit(found.map_or(end - range.start, |length| length + text.len()));
        found.map(|length| range.start + length)
    }

    /// Returns the last of these bytes in a range.
    pub(super) fn find_last(&self, range: Range<usize>, byte: u8) -> Option<usize> {
        let end = range.end.min(self.len());
        self.visit(end.saturating_sub(range.start));
        memchr::memrchr(byte, self.bytes.get(range.start..end)?).map(|length| range.start + length)
    }

    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "tests count the visits"))]
    fn visit(&self, count: usize) {
        #[cfg(test)]
        self.visits.set(self.visits.get() + count);
        #[cfg(not(test))]
        let _ = count;
    }

    /// Returns the number of bytes that were read so far.
    #[cfg(test)]
    pub(super) fn visits(&self) -> usize {
        self.visits.get()
    }
}

/// Returns whether a byte belongs to a name. Letters beyond ASCII do.
pub(super) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.') || byte >= 0x80
}

/// Returns whether a byte belongs to a word of letters and digits.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Returns whether a byte is a blank or ends a line.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Returns whether a byte after a quote says that the quote closed a value.
pub(super) fn is_terminator(byte: u8) -> bool {
    is_blank(byte) || matches!(byte, b',' | b';' | b'&' | b'|' | b')' | b']' | b'}' | b'<' | b'>')
}
