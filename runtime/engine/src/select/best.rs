//! The best of many matches, in memory proportional to the wanted ones.

use super::score::points;

/// The best matches so far.
///
/// INVARIANT: matches come by rising rank, in order of priority and name. So a match is unwanted
/// once `wanted` earlier ones have at least its score.
pub(super) struct Best {
    wanted: usize,
    /// Place and rank, joined into one number for sorting. Lower is better.
    kept: Vec<u64>,
    /// The bar: only matches with a lower place are kept.
    bar: u32,
}

impl Best {
    /// Begins empty; the best `wanted` of all matches are kept.
    pub(super) fn new(wanted: usize) -> Self {
        Self { wanted: wanted.max(1), kept: Vec::new(), bar: u32::MAX }
    }

    /// Returns the fewest of `tags` tags that must match for a prompt of this priority to be kept;
    /// `None` if even all of them are too few.
    pub(super) fn least(&self, priority: u8, tags: usize) -> Option<usize> {
        (1..=tags).find(|matching| place(*matching, priority) < self.bar)
    }

    /// Keeps a match with at least [`Self::least`] tags.
    pub(super) fn keep(&mut self, matching: usize, priority: u8, rank: u32) {
        self.kept.push(u64::from(place(matching, priority)) << 32 | u64::from(rank));
    }

    /// Drops unwanted matches once there are twice as many as wanted; returns whether it did.
    pub(super) fn settle(&mut self) -> bool {
        if self.kept.len() < self.wanted.saturating_mul(2) {
            return false;
        }
        let (_, last, _) = self.kept.select_nth_unstable(self.wanted - 1);
        self.bar = u32::try_from(*last >> 32).unwrap_or(0);
        self.kept.truncate(self.wanted);
        true
    }

    /// Returns the ranks of the best, in order.
    pub(super) fn into_ranks(mut self) -> Vec<u32> {
        self.kept.sort_unstable();
        self.kept.truncate(self.wanted);
        self.kept.into_iter().map(|kept| u32::try_from(kept & 0xffff_ffff).unwrap_or(0)).collect()
    }
}

/// Returns the place of a score: lower for a higher score.
fn place(matching: usize, priority: u8) -> u32 {
    !u32::try_from(points(matching, priority)).unwrap_or(u32::MAX)
}
