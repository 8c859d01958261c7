//! Requests refused before their content is read: a few records a second, then a count, so that the
//! audit file stays small under a flood of such requests.

use std::mem;
use std::sync::Mutex;

use relay_machine::lock::lock;

/// The most records of one second.
const RECORDS_PER_S_MAX: u32 = 10;

/// The refused requests of the current second.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Mutex<Second>);

#[derive(Debug, Default)]
struct Second {
    /// In seconds since 1970.
    at: u64,
    recorded: u32,
    /// Further refused requests, which are only counted.
    counted: u64,
}

/// The due records for a refused request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Due {
    /// The number of requests of an earlier second that were only counted.
    pub(crate) counted: u64,
    /// Whether the request has a record of its own.
    pub(crate) own: bool,
    /// Whether it is the first request that is only counted. The count is due in a second.
    pub(crate) begins_count: bool,
}

impl Refusals {
    /// Counts a request refused at the time `now` (seconds since 1970).
    pub(crate) fn add(&self, now: u64) -> Due {
        let mut second = lock(&self.0);
        let counted = if second.at == now { 0 } else { mem::take(&mut second.counted) };
        if second.at != now {
            *second = Second { at: now, ..Second::default() };
        }
        let own = second.recorded < RECORDS_PER_S_MAX;
        if own {
            second.recorded += 1;
        } else {
            second.counted += 1;
        }
        Due { counted, own, begins_count: !own && second.counted == 1 }
    }

    /// Returns the number of requests that were only counted so far, and resets it.
    pub(crate) fn take_count(&self) -> u64 {
        mem::take(&mut lock(&self.0).counted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_records_a_second_and_then_a_count() {
        let refusals = Refusals::default();
        let own = Due { counted: 0, own: true, begins_count: false };
        for _ in 0..RECORDS_PER_S_MAX {
            assert_eq!(refusals.add(7), own);
        }
        assert_eq!(refusals.add(7), Due { counted: 0, own: false, begins_count: true });
        assert_eq!(refusals.add(7), Due { counted: 0, own: false, begins_count: false });
        assert_eq!(refusals.add(8), Due { counted: 2, ..own });
        assert_eq!(refusals.take_count(), 0);
        (0..RECORDS_PER_S_MAX).for_each(|_| _ = refusals.add(8));
        assert_eq!(refusals.take_count(), 1);
        assert_eq!(refusals.add(8), Due { counted: 0, own: false, begins_count: true });
    }
}
