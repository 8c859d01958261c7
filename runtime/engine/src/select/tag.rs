//! Tags as given by an agent -> normalized tags for the search.

use relay_bundle::lower_case;
use thiserror::Error;

/// The most characters of one tag, as given.
pub const TAG_CHARS_MAX: usize = 200;
/// The most tags of a call in an ungated project.
pub const TAGS_MAX: usize = 10;
/// The most tags of a call under any gate.
pub const TAGS_LIMIT: usize = 255;
/// The budget of a briefing in an ungated project.
pub const BUDGET_BYTES: usize = 8192;

/// The normalized tags of one call.
///
/// INVARIANT: trimmed, lower-cased, non-empty, distinct, at most [`TAGS_LIMIT`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tags(Vec<String>);

/// The reason why tags are rejected. The messages are for the agent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TagError {
    /// There are more than the project allows, counted as given.
    #[error("{count} tags are too many: send at most {max}, the most specific ones")]
    TooMany {
        /// The number of tags.
        count: usize,
        /// The most allowed tags.
        max: usize,
    },
    /// One is longer than allowed.
    #[error("tag {place} is over {max} characters: send one or two words for each topic")]
    TooLong {
        /// The position of the tag, from 1.
        place: usize,
        /// The most characters of a tag.
        max: usize,
    },
}

impl Tags {
    /// Normalizes the given tags: white space around them, case, empty tags and repeats are
    /// ignored. The order of first mention is kept.
    ///
    /// # Errors
    ///
    /// There are more than `max`, or one is longer than [`TAG_CHARS_MAX`]. Both limits are checked
    /// before a text is copied.
    pub fn new<T: AsRef<str>>(given: &[T], max: usize) -> Result<Self, TagError> {
        let max = max.min(TAGS_LIMIT);
        if given.len() > max {
            return Err(TagError::TooMany { count: given.len(), max });
        }
        for (place, tag) in (1..).zip(given) {
            if tag.as_ref().chars().nth(TAG_CHARS_MAX).is_some() {
                return Err(TagError::TooLong { place, max: TAG_CHARS_MAX });
            }
        }
        let mut tags = Vec::with_capacity(given.len());
        for tag in given {
            let tag = lower_case(tag.as_ref().trim());
            if !tag.is_empty() && !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        Ok(Self(tags))
    }

    /// Returns the tags.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }

    /// Returns the tags, one after the other.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
