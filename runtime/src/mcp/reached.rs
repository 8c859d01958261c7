//! Whether a handler got a request that came over HTTP.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a handler got the request.
#[derive(Debug, Default)]
pub(super) struct Reached(AtomicBool);

impl Reached {
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
