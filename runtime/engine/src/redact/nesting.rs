//! The quotes and substitutions around a place in a text.
//!
//! A text may be of a shell, JSON, or prose, so a quote counts only where it can open something, and
//! an unmatched one changes nothing but the commands that are known around it.

use super::mark::{MARKER, NESTING_MAX, SLASHES_MAX};
use super::text::{Text, is_word};

/// A quote or a substitution: its last character, and the number of backslashes before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Closer {
    pub(super) byte: u8,
    pub(super) slashes: usize,
}

/// The quotes and substitutions around a place, the innermost last.
#[derive(Debug, Default)]
pub(super) struct Nesting {
    open: Vec<Closer>,
}

impl Nesting {
    /// Returns whether a quote or substitution is open here, and this closes it.
    pub(super) fn is_open(&self, closer: Closer) -> bool {
        self.depth_of(closer).is_some()
    }

    /// Returns whether a place is within quotes.
    pub(super) fn is_quoted(&self) -> bool {
        self.open.last().is_some_and(|closer| closer.byte != b')')
    }

    /// Opens a level. Deeper levels than the limit are ignored; returns whether it was opened.
    pub(super) fn push(&mut self, closer: Closer) -> bool {
        let is_followed = self.open.len() < NESTING_MAX;
        if is_followed {
            self.open.push(closer);
        }
        is_followed
    }

    /// Closes a level and those within it. Returns the number of closed levels.
    pub(super) fn close(&mut self, closer: Closer) -> usize {
        let Some(depth) = self.depth_of(closer) else { return 0 };
        let count = self.open.len() - depth;
        self.open.truncate(depth);
        count
    }

    /// Returns the place of a level. A substitution hides the quotes around it.
    fn depth_of(&self, closer: Closer) -> Option<usize> {
        for (depth, open) in self.open.iter().enumerate().rev() {
            if *open == closer {
                return Some(depth);
            }
            if open.byte == b')' {
                return None;
            }
        }
        None
    }
}

/// Returns the quote at a place, after its backslashes, and the place after it.
pub(super) fn quote_at(text: &Text<'_>, at: usize) -> Option<(Closer, usize)> {
    let end = text.run(at, |byte| byte == b'\\');
    let byte = text.at(end);
    (matches!(byte, b'"' | b'\'' | b'`') && end - at <= SLASHES_MAX)
        .then_some((Closer { byte, slashes: end - at }, end + 1))
}

/// Returns whether a quote at a place can open something: the apostrophe of `don't` cannot, nor can
/// a quote after the mark of a secret, whose scan ended there.
pub(super) fn can_open(text: &Text<'_>, at: usize) -> bool {
    !is_word(text.before(at)) && !is_after_marker(text, at)
}

/// Returns whether the mark of a secret ends at a place.
pub(super) fn is_after_marker(text: &Text<'_>, at: usize) -> bool {
    text.get(at.saturating_sub(MARKER.len())..at) == MARKER.as_bytes()
}
