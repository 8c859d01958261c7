//! The score of a prompt: matching tags times priority.

use relay_bundle::{Corrupt, PromptView};

use super::hit::hits;
use super::tag::Tags;

/// The score of a prompt, which determines its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Score {
    /// The product of matching tags and priority.
    Points {
        /// The number of matching tags.
        matching: usize,
        /// The priority, 1 to 9.
        priority: u8,
    },
    /// Priority 10: it is sent for any tags.
    Always,
}

impl Score {
    /// Returns the number that orders matches, 0 if all tags miss; `None` for a prompt that is
    /// always sent.
    #[must_use]
    pub fn points(self) -> Option<usize> {
        match self {
            Self::Points { matching, priority } => Some(points(matching, priority)),
            Self::Always => None,
        }
    }
}

/// Returns matching tags times priority.
pub(super) fn points(matching: usize, priority: u8) -> usize {
    matching.saturating_mul(priority.into())
}

/// Returns the score of a prompt.
///
/// # Errors
///
/// As for [`hits`].
pub fn score(prompt: &PromptView<'_>, tags: &Tags) -> Result<Score, Corrupt> {
    if prompt.priority() >= 10 {
        return Ok(Score::Always);
    }
    // The hits of one tag are adjacent.
    let mut matching: Vec<&str> = hits(prompt, tags)?.into_iter().map(|hit| hit.tag).collect();
    matching.dedup();
    Ok(Score::Points { matching: matching.len(), priority: prompt.priority() })
}
