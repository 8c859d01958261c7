//! The bytes of request bodies in memory: a budget for each caller, and one for all.
//!
//! A body takes its room before it is read, so incomplete requests use up the budget of their own
//! caller, and the memory of the process stays in its limit.

use std::sync::{Arc, OnceLock};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::principal::{CallerKey, Principal};
use super::slots::{Slot, Slots};

/// The unit in which room is counted, so that counts fit their type.
const UNIT_BYTES: usize = 1 << 10;

/// The budgets of all callers.
#[derive(Debug)]
pub(crate) struct Bodies {
    all: Budget,
    each_max: usize,
    callers: Slots<CallerKey, OnceLock<Budget>>,
}

/// The room for one body, until it is dropped.
#[derive(Debug)]
pub(crate) struct Room {
    _own: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
    _slot: Slot<CallerKey, OnceLock<Budget>>,
}

#[derive(Debug)]
struct Budget {
    units: u32,
    free: Arc<Semaphore>,
}

impl Bodies {
    pub(crate) fn new(each_max: usize, all_max: usize) -> Self {
        Self { all: Budget::new(all_max), each_max, callers: Slots::new(usize::MAX) }
    }

    /// Waits until there is room for a body of `bytes` of `principal`. A body over a whole budget
    /// has room when all others are done.
    pub(crate) async fn room(&self, principal: &Principal, bytes: usize) -> Option<Room> {
        let slot = self.callers.take(principal.caller_key())?;
        let own = slot.shared().get_or_init(|| Budget::new(self.each_max));
        // Callers that wait for their own budget hold nothing of the common one.
        let own = own.take(bytes).await?;
        let all = self.all.take(bytes).await?;
        Some(Room { _own: own, _all: all, _slot: slot })
    }
}

impl Budget {
    fn new(bytes: usize) -> Self {
        let units = units(bytes);
        Self { units, free: Arc::new(Semaphore::new(units as usize)) }
    }

    async fn take(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let units = units(bytes).min(self.units);
        self.free.clone().acquire_many_owned(units).await.ok()
    }
}

fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_caller_waits_for_its_own_bodies_only() {
        let bodies = Bodies::new(4 * UNIT_BYTES, 100 * UNIT_BYTES);
        let ann = Principal { id: "ann".to_owned(), ..Principal::default() };
        let room =
            |who, units| timeout(Duration::from_secs(1), bodies.room(who, units * UNIT_BYTES));
        let held = room(&ann, 3).await.expect("room at once");
        assert!(room(&ann, 2).await.is_err());
        let bob = Principal { id: "bob".to_owned(), ..Principal::default() };
        assert!(room(&bob, 4).await.is_ok());
        drop(held);
        // A body over the budget takes all of it.
        let whole = room(&ann, 50).await.expect("room at once");
        assert!(room(&ann, 1).await.is_err());
        drop(whole);
        assert!(room(&ann, 1).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn all_callers_together_have_a_budget() {
        let bodies = Bodies::new(4 * UNIT_BYTES, 6 * UNIT_BYTES);
        let [ann, bob] =
            ["ann", "bob"].map(|id| Principal { id: id.to_owned(), ..Principal::default() });
        let room =
            |who, units| timeout(Duration::from_secs(1), bodies.room(who, units * UNIT_BYTES));
        let held = room(&ann, 4).await.expect("room at once");
        assert!(room(&bob, 3).await.is_err());
        assert!(room(&bob, 2).await.is_ok());
        drop(held);
        assert!(room(&bob, 3).await.is_ok());
    }
}
