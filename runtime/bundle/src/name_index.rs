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
            let mut slot = first_slot(&[name], slots);
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
        self.find_joined(kind, &[name], candidate)
    }

    /// Does the same for a name in several parts.
    pub(crate) fn find_joined<T>(
        &self,
        kind: Kind,
        parts: &[&str],
        mut candidate: impl FnMut(usize) -> Result<Option<T>, Corrupt>,
    ) -> Result<Option<T>, Corrupt> {
        let slots = self.count(kind);
        if slots == 0 {
            return Ok(None);
        }
        if !slots.is_power_of_two() {
            return Err(Corrupt::Record { section: kind.name(), what: "number of slots" });
        }
        let first = first_slot(parts, slots);
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

/// Returns the first slot in the search for a name, in parts, in a table of `slots` slots, a power of two.
///
/// The hash is 64-bit FNV-1a with a final mix. It is part of the format.
fn first_slot(parts: &[&str], slots: usize) -> usize {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for part in parts {
        for byte in part.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash ^= hash >> 32;
    usize::try_from(hash & (slots as u64 - 1)).unwrap_or(0)
}
