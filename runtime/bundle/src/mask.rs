//! Sets of rows, as bits.

use crate::error::Corrupt;
use crate::reader::Reader;
use crate::section::Kind;
use serde::{Deserialize, Serialize};

/// Rows in one byte of a mask, the lowest bit first.
const BYTE: usize = u8::BITS as usize;
/// Rows in one word, by which a mask is searched.
const WORD: usize = u64::BITS as usize;

/// A set of rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Mask(Vec<u8>);

/// A set of rows, in place.
#[derive(Debug, Clone, Copy)]
pub struct MaskView<'b>(&'b [u8]);

impl Mask {
    /// Returns a set of the rows below `rows` that `is_in` accepts.
    pub fn of(rows: usize, mut is_in: impl FnMut(usize) -> bool) -> Self {
        let mut bytes = vec![0; byte_count(rows)];
        for row in (0..rows).filter(|row| is_in(*row)) {
            if let Some(byte) = bytes.get_mut(row / BYTE) {
                *byte |= 1 << (row % BYTE);
            }
        }
        Self(bytes)
    }

    /// Returns whether a row is in the set.
    #[must_use]
    pub fn contains(&self, row: usize) -> bool {
        self.0.get(row / BYTE).is_some_and(|byte| byte >> (row % BYTE) & 1 == 1)
    }

    /// Returns the number of rows in the set.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.iter().map(|byte| byte.count_ones() as usize).sum()
    }

    /// Returns the bytes of the set in a section.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
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
        let rest = self.0.get(index.saturating_mul(size_of::<u64>())..).unwrap_or_default();
        match rest.first_chunk() {
            Some(word) => u64::from_le_bytes(*word),
            // The last rows fill no word.
            None => rest.iter().rev().fold(0, |word, byte| word << BYTE | u64::from(*byte)),
        }
    }

    /// Returns the rows of the set, in order.
    pub fn rows(self) -> impl Iterator<Item = usize> + use<'b> {
        (0..self.0.len().div_ceil(size_of::<u64>())).flat_map(move |index| {
            let mut rest = self.word(index);
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
        let before = (0..whole).map(|index| self.word(index).count_ones() as usize);
        let within = self.word(whole) & ((1 << rest) - 1);
        before.sum::<usize>() + within.count_ones() as usize
    }

    pub(crate) fn to_owned(self) -> Mask {
        Mask(self.0.to_vec())
    }
}

/// Returns the number of bytes of a set of the rows below `rows`.
pub(crate) fn byte_count(rows: usize) -> usize {
    rows.div_ceil(BYTE)
}

impl Reader {
    /// Returns a set that begins at this offset of its section, over the rows below `rows`.
    pub(crate) fn mask(
        &self,
        kind: Kind,
        start: usize,
        rows: usize,
    ) -> Result<MaskView<'_>, Corrupt> {
        self.bytes(kind, start, byte_count(rows)).map(MaskView)
    }
}
