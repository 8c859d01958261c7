//! Slots by owner: each owner holds a limited number, and its slots share a value.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use relay_machine::lock::lock;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// The slots of all owners; those of one owner share an `S`. Clones count together.
#[derive(Debug)]
pub(crate) struct Slots<K: Ord, S = ()> {
    each_max: usize,
    held: Arc<Held<K, S>>,
}

#[derive(Debug)]
struct Held<K: Ord, S> {
    owners: Mutex<BTreeMap<K, Owner<S>>>,
    /// Notified when a slot is free again.
    freed: Notify,
}

/// The slots that one owner holds.
#[derive(Debug, Default)]
struct Owner<S> {
    count: usize,
    shared: Arc<S>,
}

/// A slot of one owner. It is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Slot<K: Ord, S = ()> {
    owner: K,
    shared: Arc<S>,
    held: Arc<Held<K, S>>,
}

impl<K: Ord, S> Slot<K, S> {
    /// Returns the value that all slots of the owner share.
    pub(crate) fn shared(&self) -> &Arc<S> {
        &self.shared
    }
}

impl<K: Ord, S> Drop for Slot<K, S> {
    fn drop(&mut self) {
        let mut owners = lock(&self.held.owners);
        match owners.get_mut(&self.owner) {
            Some(Owner { count: count @ 2.., .. }) => *count -= 1,
            _ => _ = owners.remove(&self.owner),
        }
        drop(owners);
        self.held.freed.notify_waiters();
    }
}

impl<K: Ord, S> Clone for Slots<K, S> {
    fn clone(&self) -> Self {
        Self { each_max: self.each_max, held: self.held.clone() }
    }
}

impl<K: Clone + Ord, S: Default> Slots<K, S> {
    /// Creates the slots: each owner has `each_max`.
    pub(crate) fn new(each_max: usize) -> Self {
        let held = Held { owners: Mutex::default(), freed: Notify::new() };
        Self { each_max, held: Arc::new(held) }
    }

    /// Returns the number of slots of one owner.
    pub(crate) fn each_max(&self) -> usize {
        self.each_max
    }

    /// Takes a slot of `owner`; `None` if it holds all of its slots.
    pub(crate) fn take(&self, owner: K) -> Option<Slot<K, S>> {
        let mut owners = lock(&self.held.owners);
        let Owner { count, shared } = owners.entry(owner.clone()).or_default();
        if *count >= self.each_max {
            return None;
        }
        *count += 1;
        Some(Slot { owner, shared: shared.clone(), held: self.held.clone() })
    }

    /// Takes a slot of `owner` as soon as it has a free one; `None` if that is after `until`.
    pub(crate) async fn take_until(&self, owner: K, until: Instant) -> Option<Slot<K, S>> {
        loop {
            // Before the try, so that a slot that becomes free after it is noticed.
            let freed = self.held.freed.notified();
            if let Some(slot) = self.take(owner.clone()) {
                return Some(slot);
            }
            timeout_at(until, freed).await.ok()?;
        }
    }

    /// Returns the number of slots held by all owners.
    pub(crate) fn held(&self) -> usize {
        lock(&self.held.owners).values().map(|owner| owner.count).sum()
    }

    /// Returns the number of slots that `owner` holds.
    pub(crate) fn held_by(&self, owner: &K) -> usize {
        lock(&self.held.owners).get(owner).map_or(0, |owner| owner.count)
    }

    /// Waits until all slots are free.
    pub(crate) async fn all_free(&self) {
        loop {
            let freed = self.held.freed.notified();
            if lock(&self.held.owners).is_empty() {
                return;
            }
            freed.await;
        }
    }
}
