//! The hash tables from names to their records.

use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use super::offset;
use crate::view::name_slot;

/// Builds the hash table from names to their indexes: twice as many slots as names, rounded up to
/// a power of two; a slot holds index + 1, or 0 if it is free; collisions take the next slot.
pub(super) fn name_index<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> Vec<u8> {
    if names.len() == 0 {
        return Vec::new();
    }
    let slots = (names.len() * 2).next_power_of_two();
    let mut table = vec![U32::ZERO; slots];
    for (index, name) in names.enumerate() {
        let mut slot = name_slot(name, slots);
        while let Some(taken) = table.get_mut(slot) {
            if taken.get() == 0 {
                *taken = offset(index + 1);
                break;
            }
            slot = (slot + 1) % slots;
        }
    }
    table.as_bytes().to_vec()
}
