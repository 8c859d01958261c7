//! Counts by owner: each may hold at most so many slots at a time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use crate::lock::lock;

/// The slots of all owners. Clones count together.
#[derive(Debug)]
pub(crate) struct Slots<K: Ord> {
    each_max: usize,
    held: Arc<Held<K>>,
}

#[derive(Debug)]
struct Held<K: Ord> {
    counts: Mutex<BTreeMap<K, usize>>,
    /// Notified when a slot is free again.
    freed: Notify,
}

/// A slot of one owner. It is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Slot<K: Ord> {
    owner: K,
    held: Arc<Held<K>>,
}

impl<K: Ord> Drop for Slot<K> {
    fn drop(&mut self) {
        let mut counts = lock(&self.held.counts);
        match counts.get_mut(&self.owner) {
            Some(count @ 2..) => *count -= 1,
            _ => _ = counts.remove(&self.owner),
        }
        drop(counts);
        self.held.freed.notify_waiters();
    }
}

impl<K: Ord> Clone for Slots<K> {
    fn clone(&self) -> Self {
        Self { each_max: self.each_max, held: self.held.clone() }
    }
}

impl<K: Clone + Ord> Slots<K> {
    /// Creates the slots: each owner has `each_max`.
    pub(crate) fn new(each_max: usize) -> Self {
        let held = Held { counts: Mutex::default(), freed: Notify::new() };
        Self { each_max, held: Arc::new(held) }
    }

    /// Returns how many slots one owner has.
    pub(crate) fn each_max(&self) -> usize {
        self.each_max
    }

    /// Takes a slot of `owner`; `None` if it holds all of its slots.
    pub(crate) fn take(&self, owner: K) -> Option<Slot<K>> {
        let mut counts = lock(&self.held.counts);
        let count = counts.entry(owner.clone()).or_default();
        if *count >= self.each_max {
            return None;
        }
        *count += 1;
        Some(Slot { owner, held: self.held.clone() })
    }

    /// Returns how many slots are held by anyone.
    pub(crate) fn held(&self) -> usize {
        lock(&self.held.counts).values().sum()
    }

    /// Waits until no one holds a slot.
    pub(crate) async fn all_free(&self) {
        loop {
            let freed = self.held.freed.notified();
            if lock(&self.held.counts).is_empty() {
                return;
            }
            freed.await;
        }
    }
}
