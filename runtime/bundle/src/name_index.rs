//! The hash tables from names to their rows.
//!
//! The number of slots is twice the number of names, rounded up to a power of two. A slot holds the
//! index of a row + 1, or 0 if it is free; collisions take the next slot. The key of a prompt is
//! its name in lower case, the key of a resource its literal URI.

use zerocopy::little_endian::U32;

use crate::error::Corrupt;
use crate::reader::Reader;
use crate::section::Kind;
use crate::writer::{Writer, number};

impl Writer<'_> {
    /// Writes the table of names, in the order of their rows, to the section `kind`.
    pub(crate) fn name_index(
        &mut self,
        kind: Kind,
        names: impl ExactSizeIterator<Item = impl AsRef<str>>,
    ) {
        let names: Vec<_> = names.collect();
        let entries: Vec<_> = names.iter().map(AsRef::as_ref).enumerate().collect();
        self.sparse_name_index(kind, &entries);
    }

    /// Writes the table of names with their rows to the section `kind`.
    pub(crate) fn sparse_name_index(&mut self, kind: Kind, entries: &[(usize, &str)]) {
        if entries.is_empty() {
            return;
        }
        let slots = (entries.len() * 2).next_power_of_two();
        let mut table = vec![U32::ZERO; slots];
        for (index, name) in entries {
            let mut slot = NameHash::EMPTY.then(name).first_slot(slots);
            while let Some(taken) = table.get_mut(slot) {
                if taken.get() == 0 {
                    *taken = number(index + 1);
                    break;
                }
                slot = (slot + 1) % slots;
            }
        }
        self.records(kind, &table);
    }
}

impl Reader {
    /// Returns the result of `candidate` for the first index under `name` that it accepts.
    pub(crate) fn find<T>(
        &self,
        kind: Kind,
        name: &str,
        candidate: impl FnMut(usize) -> Result<Option<T>, Corrupt>,
    ) -> Result<Option<T>, Corrupt> {
        self.find_hashed(kind, NameHash::EMPTY.then(name), candidate)
    }

    /// Does the same for a name with this hash.
    pub(crate) fn find_hashed<T>(
        &self,
        kind: Kind,
        hash: NameHash,
        mut candidate: impl FnMut(usize) -> Result<Option<T>, Corrupt>,
    ) -> Result<Option<T>, Corrupt> {
        let slots = self.count(kind);
        if slots == 0 {
            return Ok(None);
        }
        if !slots.is_power_of_two() {
            return Err(Corrupt::Record { section: kind.name(), what: "number of slots" });
        }
        let first = hash.first_slot(slots);
        // Each slot is visited at most once, so the search also ends in a full table.
        for step in 0..slots {
            let slot: &U32 = self.record(kind, (first + step) & (slots - 1))?;
            let Some(index) = slot.get().checked_sub(1) else { return Ok(None) };
            if let Some(found) = candidate(index as usize)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// The hash of a name, or of its beginning.
///
/// The hash is 64-bit FNV-1a with a final mix. It is part of the format.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameHash(u64);

impl NameHash {
    /// The hash of no bytes.
    pub(crate) const EMPTY: Self = Self(0xcbf2_9ce4_8422_2325);

    /// Returns the hash of the name with one more part.
    #[inline]
    pub(crate) fn then(self, part: &str) -> Self {
        let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(part.bytes().fold(self.0, step))
    }

    /// Returns the first slot in the search for the name in a table of `slots` slots, a power of two.
    pub(crate) fn first_slot(self, slots: usize) -> usize {
        let mixed = self.0 ^ self.0 >> 32;
        usize::try_from(mixed & (slots as u64 - 1)).unwrap_or(0)
    }
}
