//! The prompts that an agent received in full.

/// A set of prompts, each by its index in the order of names.
///
/// INVARIANT: sorted and distinct.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sent(Vec<u32>);

impl Sent {
    /// Returns the set of these indexes, in any order and with repeats.
    #[must_use]
    pub fn from_indexes(indexes: impl IntoIterator<Item = u32>) -> Self {
        let mut indexes: Vec<u32> = indexes.into_iter().collect();
        indexes.sort_unstable();
        indexes.dedup();
        Self(indexes)
    }

    /// Adds these indexes.
    pub fn extend(&mut self, indexes: impl IntoIterator<Item = u32>) {
        let before = std::mem::take(&mut self.0);
        *self = Self::from_indexes(before.into_iter().chain(indexes));
    }

    /// Returns whether the prompt with this index is in the set.
    #[must_use]
    pub fn contains(&self, index: u32) -> bool {
        self.0.binary_search(&index).is_ok()
    }

    /// Returns the indexes, rising.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().copied()
    }

    /// Returns the number of prompts in the set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
