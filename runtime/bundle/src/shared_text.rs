//! A text that several values hold.

use std::fmt;
use std::ops::{Deref, Range};
use std::ptr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A text that several values hold: a clone, or a part of it, shares its bytes.
///
/// The texts of a project are most of its memory, and each is in its file, in the prompt that is rendered
/// from it and in briefings.
#[derive(Clone, Default)]
pub struct SharedText {
    whole: Arc<String>,
    /// INVARIANT: a range of `whole`, at the borders of characters.
    range: Range<usize>,
}

impl SharedText {
    /// Returns the part in this range of bytes; an empty text if the range cuts a character or exceeds the text.
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Self {
        if self.get(range.clone()).is_none() {
            return Self::default();
        }
        let start = self.range.start;
        Self { whole: Arc::clone(&self.whole), range: start + range.start..start + range.end }
    }
}

impl Deref for SharedText {
    type Target = str;

    fn deref(&self) -> &str {
        self.whole.get(self.range.clone()).unwrap_or_default()
    }
}

impl From<String> for SharedText {
    fn from(text: String) -> Self {
        Self { range: 0..text.len(), whole: Arc::new(text) }
    }
}

impl From<&str> for SharedText {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl PartialEq for SharedText {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for SharedText {}

impl PartialEq<&str> for SharedText {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl fmt::Debug for SharedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for SharedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

impl Serialize for SharedText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for SharedText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

/// Makes texts of a bundle shared. A text that is wanted again at once is made once: most prompts render one
/// text, which is their body.
#[derive(Default)]
pub(crate) struct Sharer<'b> {
    last: Option<(&'b str, SharedText)>,
}

impl<'b> Sharer<'b> {
    pub(crate) fn shared(&mut self, text: &'b str) -> SharedText {
        match &self.last {
            // Both lie in the bundle, so at one place is one text.
            Some((place, last)) if ptr::eq(*place, text) => last.clone(),
            _ => {
                let made = SharedText::from(text);
                self.last = Some((text, made.clone()));
                made
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_that_of_the_text() {
        let text = SharedText::from("a\u{e4}bc");
        let part = text.part(1..4);
        assert_eq!((&*part, &*part.part(2..3)), ("\u{e4}b", "b"));
        // Inside of a character, beyond the end, and the wrong way round.
        for range in [2..4, 1..9, Range { start: 3, end: 1 }] {
            assert_eq!(&*text.part(range), "");
        }
        assert_eq!(&*part.part(0..0), "");
    }
}
