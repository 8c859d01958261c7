//! A key of rules, in parts.

use std::iter;

use crate::name_index::NameHash;

/// A key of rules, or the beginning of one.
///
/// A decision looks up many keys that begin alike. Each part is hashed once: a longer key goes on with the hash of
/// its beginning, and nothing is joined.
#[derive(Debug, Clone, Copy)]
pub struct RuleKey<'k> {
    /// The parts before the last one.
    before: Option<&'k Self>,
    last: &'k str,
    /// The length of all parts in bytes.
    length: usize,
    hash: NameHash,
}

impl<'k> RuleKey<'k> {
    /// Returns a key of one part.
    #[inline]
    #[must_use]
    pub fn new(part: &'k str) -> Self {
        Self { before: None, last: part, length: part.len(), hash: NameHash::EMPTY.then(part) }
    }

    /// Returns the key with one more part.
    #[inline]
    #[must_use]
    pub fn then(&'k self, part: &'k str) -> Self {
        let length = self.length.saturating_add(part.len());
        Self { before: Some(self), last: part, length, hash: self.hash.then(part) }
    }

    /// Returns the text of the key.
    #[must_use]
    pub fn text(&self) -> String {
        let mut parts: Vec<&str> = self.backwards().collect();
        parts.reverse();
        parts.concat()
    }

    pub(crate) fn hash(&self) -> NameHash {
        self.hash
    }

    /// Returns the length of its text in bytes.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Returns whether this is its text.
    pub(crate) fn is(&self, text: &[u8]) -> bool {
        let rest = self.backwards().try_fold(text, |rest, part| rest.strip_suffix(part.as_bytes()));
        rest.is_some_and(<[u8]>::is_empty)
    }

    /// Returns the parts, the last one first.
    fn backwards(&self) -> impl Iterator<Item = &str> {
        iter::successors(Some(self), |key| key.before).map(|key| key.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_the_key_of_their_text() {
        let (program, git) = (RuleKey::new("program "), RuleKey::new("program git"));
        let longer = program.then("git");
        assert_eq!(longer.text(), "program git");
        assert_eq!(longer.length(), git.length());
        assert_eq!(longer.hash().first_slot(1 << 20), git.hash().first_slot(1 << 20));
        for (text, is_it) in [
            ("program git", true),
            ("program gitx", false),
            ("xprogram git", false),
            ("git", false),
        ] {
            assert_eq!(longer.is(text.as_bytes()), is_it, "{text}");
            assert_eq!(git.is(text.as_bytes()), is_it, "{text}");
        }
        // A key ends in empty parts too.
        assert!(longer.then("").is(b"program git"));
    }
}
