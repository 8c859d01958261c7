//! Counts the tags of each prompt of a block, for 64 prompts at a time.

use relay_bundle::RANK_BLOCK;

use super::tag::TAGS_LIMIT;

/// One bit a rank of a block, the lowest first.
pub(super) type Bits = [u64; RANK_BLOCK / 64];

pub(super) const NO_BITS: Bits = [0; RANK_BLOCK / 64];

/// Bits of the highest count.
const PLANES: usize = (usize::BITS - TAGS_LIMIT.leading_zeros()) as usize;

/// The counts of a block. Plane `n` holds bit `n` of every count, so that adding a tag to 64 counts
/// takes a few operations.
pub(super) struct Counts {
    planes: Vec<Bits>,
    tags: usize,
}

impl Counts {
    /// Begins empty, with room for `tags` tags.
    pub(super) fn new(tags: usize) -> Self {
        Self { planes: vec![NO_BITS; planes(tags)], tags: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.planes.fill(NO_BITS);
        self.tags = 0;
    }

    /// Adds one to the count of each rank whose bit is set. `bits` is scratch space afterwards.
    pub(super) fn add(&mut self, bits: &mut Bits) {
        self.tags += 1;
        for plane in self.planes.iter_mut().take(planes(self.tags)) {
            for (count, carry) in plane.iter_mut().zip(bits.iter_mut()) {
                (*count, *carry) = (*count ^ *carry, *count & *carry);
            }
        }
    }

    /// Returns the counts of the 64 ranks of one word.
    pub(super) fn word(&self, word: usize) -> WordCounts {
        let mut planes = [0; PLANES];
        for (slot, plane) in planes.iter_mut().zip(&self.planes) {
            *slot = plane.get(word).copied().unwrap_or(0);
        }
        WordCounts(planes)
    }
}

/// Returns the number of planes for the counts of `tags` tags.
fn planes(tags: usize) -> usize {
    (usize::BITS - tags.leading_zeros()) as usize
}

/// The counts of 64 ranks.
pub(super) struct WordCounts([u64; PLANES]);

impl WordCounts {
    /// Returns the ranks with a count above 0.
    pub(super) fn any(&self) -> u64 {
        self.0.iter().fold(0, |any, plane| any | plane)
    }

    /// Returns the ranks with a count of at least `least`.
    pub(super) fn at_least(&self, least: usize) -> u64 {
        let (mut more, mut equal) = (0, u64::MAX);
        for (bit, plane) in self.0.iter().enumerate().rev() {
            if least >> bit & 1 == 1 {
                equal &= plane;
            } else {
                more |= equal & plane;
                equal &= !plane;
            }
        }
        more | equal
    }

    /// Returns the count of one rank, 0 to 63.
    pub(super) fn of(&self, rank: u32) -> usize {
        let bits = self.0.iter().enumerate();
        bits.fold(0, |count, (bit, plane)| count | ((plane >> rank & 1) as usize) << bit)
    }
}

/// Returns the positions of the set bits, rising.
pub(super) fn ones(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros();
        bits &= bits.checked_sub(1)?;
        Some(place)
    })
}

/// Returns the bits of the word of ranks from `start` on that lie in `from..to`.
pub(super) fn between(start: usize, from: usize, to: usize) -> u64 {
    let below = |rank: usize| match rank.saturating_sub(start) {
        distance @ ..64 => (1 << distance) - 1,
        _ => u64::MAX,
    };
    below(to) & !below(from)
}
