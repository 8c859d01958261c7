//! Lists of skills -> the skills of all of them, once each, in the order of the cascade.

use relay_bundle::Numbers;

/// The numbers of skills, from lists that rise.
///
/// Most lists begin after the last one ended: a list of the skills of all tenants before one of a
/// tenant's. So lists are put one after the other, and only what they interleave is sorted.
#[derive(Default)]
pub(super) struct Skills {
    numbers: Vec<u32>,
    /// So many of the first ones rise, and are below all that follow them.
    in_order: usize,
}

impl Skills {
    /// Adds a list, which rises.
    pub(super) fn add(&mut self, list: Numbers<'_>) {
        let Some(first) = list.iter().next() else { return };
        let ordered = self.numbers.get(..self.in_order).unwrap_or_default();
        let is_all = ordered.len() == self.numbers.len();
        if ordered.last().is_some_and(|last| *last >= first) {
            self.in_order = ordered.partition_point(|number| *number < first);
        } else if is_all {
            self.in_order += list.len();
        }
        self.numbers.extend(list.iter());
    }

    /// Returns all numbers, each once, rising.
    pub(super) fn into_sorted(mut self) -> Vec<u32> {
        if let Some(rest) = self.numbers.get_mut(self.in_order..).filter(|rest| !rest.is_empty()) {
            // Not `sort_unstable`: it does not see that the lists rise.
            rest.sort();
            self.numbers.dedup();
        }
        self.numbers
    }
}
