//! The secrets that a scan found, and the text with a mark for each.

use std::borrow::Cow;
use std::ops::Range;

use super::mark::MARKER;

/// The places of secrets in one text.
#[derive(Debug, Default)]
pub(super) struct Found {
    ranges: Vec<Range<usize>>,
}

impl Found {
    /// Adds a secret, if its range holds anything.
    pub(super) fn add(&mut self, range: Range<usize>) {
        if range.start < range.end {
            self.ranges.push(range);
        }
    }

    /// Returns the text with one mark for each secret; secrets that meet or overlap share one.
    pub(super) fn write(mut self, text: &str) -> Cow<'_, str> {
        if self.ranges.is_empty() {
            return Cow::Borrowed(text);
        }
        self.ranges.sort_unstable_by_key(|range| range.start);
        let mut written = String::with_capacity(text.len());
        let mut copied = 0;
        let mut is_joined = false;
        for range in self.ranges {
            if range.start > copied || !is_joined {
                // Each range begins and ends beside ASCII, so it lies between characters.
                let Some(kept) = text.get(copied..range.start.max(copied)) else {
                    return Cow::Borrowed(MARKER);
                };
                written.push_str(kept);
                written.push_str(MARKER);
                is_joined = true;
            }
            copied = copied.max(range.end);
        }
        let Some(rest) = text.get(copied..) else { return Cow::Borrowed(MARKER) };
        written.push_str(rest);
        if written == text { Cow::Borrowed(text) } else { Cow::Owned(written) }
    }
}
