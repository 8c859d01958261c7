//! Locks for what no code can leave half-changed, so that a panic elsewhere harms no one here.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`, whether or not a holder panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
