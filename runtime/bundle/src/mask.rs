//! Sets of rows, as bits.

use serde::{Deserialize, Serialize};
use zerocopy::FromBytes as _;
use zerocopy::little_endian::U64;

use crate::error::Corrupt;
use crate::reader::Reader;
use crate::section::Kind;

/// Rows in one word of a mask.
const WORD: usize = u64::BITS as usize;

/// A set of rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Mask(Vec<u64>);

/// A set of rows, in place.
#[derive(Debug, Clone, Copy)]
pub struct MaskView<'b>(&'b [U64]);

impl Mask {
    /// Returns a set of the rows below `rows` that `is_in` accepts.
    pub fn of(rows: usize, mut is_in: impl FnMut(usize) -> bool) -> Self {
        let mut words = vec![0; word_count(rows)];
        for row in (0..rows).filter(|row| is_in(*row)) {
            if let Some(word) = words.get_mut(row / WORD) {
                *word |= 1 << (row % WORD);
            }
        }
        Self(words)
    }

    /// Returns whether a row is in the set.
    #[must_use]
    pub fn contains(&self, row: usize) -> bool {
        self.0.get(row / WORD).is_some_and(|word| word >> (row % WORD) & 1 == 1)
    }

    /// Returns the number of rows in the set.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns the bytes of the set in a section.
    pub(crate) fn bytes(&self) -> impl Iterator<Item = u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes())
    }
}

impl<'b> MaskView<'b> {
    /// Returns whether a row is in the set.
    #[must_use]
    pub fn contains(self, row: usize) -> bool {
        self.word(row / WORD) >> (row % WORD) & 1 == 1
    }

    /// Returns the bits of the 64 rows from `64 * index` on.
    #[must_use]
    pub fn word(self, index: usize) -> u64 {
        self.0.get(index).map_or(0, |word| word.get())
    }

    /// Returns the rows of the set, in order.
    pub fn rows(self) -> impl Iterator<Item = usize> + use<'b> {
        self.0.iter().enumerate().flat_map(|(index, word)| {
            let mut rest = word.get();
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(index * WORD + bit)
            })
        })
    }

    /// Returns the number of rows of the set before a row.
    #[must_use]
    pub fn position(self, row: usize) -> usize {
        let (whole, rest) = (row / WORD, row % WORD);
        let before = self.0.iter().take(whole).map(|word| word.get().count_ones() as usize);
        let within = self.word(whole) & ((1 << rest) - 1);
        before.sum::<usize>() + within.count_ones() as usize
    }

    pub(crate) fn to_owned(self) -> Mask {
        Mask(self.0.iter().map(|word| word.get()).collect())
    }
}

/// Returns the number of words of a set of the rows below `rows`.
pub(crate) fn word_count(rows: usize) -> usize {
    rows.div_ceil(WORD)
}

impl Reader {
    /// Returns a set whose first word has this index in its section, over the rows below `rows`.
    pub(crate) fn mask(
        &self,
        kind: Kind,
        first: usize,
        rows: usize,
    ) -> Result<MaskView<'_>, Corrupt> {
        let wrong = || Corrupt::Record { section: kind.name(), what: "mask" };
        let start = first.checked_mul(size_of::<U64>()).ok_or_else(wrong)?;
        let bytes = self.bytes(kind, start, word_count(rows) * size_of::<U64>())?;
        <[U64]>::ref_from_bytes(bytes).map(MaskView).map_err(|_| wrong())
    }
}
