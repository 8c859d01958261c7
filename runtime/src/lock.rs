//! Locks for values that are never half-changed, so that a panic of a holder does no harm.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`, whether or not a holder panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
