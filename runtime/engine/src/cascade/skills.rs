//! Lists of skills -> the skills of all of them, once each, in the order of the cascade.

use relay_bundle::Numbers;

/// The numbers of skills, from rising lists.
///
/// Most lists begin after the end of the last one: a list of the skills of all tenants precedes one
/// of a tenant. So lists are concatenated, and only overlapping parts are sorted.
#[derive(Default)]
pub(super) struct Skills {
    numbers: Vec<u32>,
    /// The length of a rising prefix with numbers below all that follow it.
    in_order: usize,
}

impl Skills {
    /// Adds a rising list.
    pub(super) fn add(&mut self, list: Numbers<'_>) {
        let Some(first) = list.iter().next() else { return };
        let ordered = self.numbers.get(..self.in_order).unwrap_or_default();
        let is_all = ordered.len() == self.numbers.len();
        // An overlapping list shortens the sorted prefix to the numbers before its first one.
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
            // The stable sort is faster here: unlike `sort_unstable`, it detects the rising lists.
            rest.sort();
            self.numbers.dedup();
        }
        self.numbers
    }
}
