//! Whether a connection is being answered. At the limit, one that waits for its client is closed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_util::sync::CancellationToken;

/// The state of one connection.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    is_answered: AtomicBool,
    /// Cancelled when the connection must make room for another.
    pub(crate) replaced: CancellationToken,
}

/// An answer that is being sent, until this is dropped.
#[derive(Debug)]
pub(crate) struct Answering(Arc<Activity>);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.is_answered.store(false, Ordering::Relaxed);
    }
}

impl Activity {
    /// Marks a request as complete: from here on the connection waits for the server.
    pub(crate) fn arrived(&self) {
        self.is_answered.store(true, Ordering::Relaxed);
    }

    /// Marks the connection as one that gets its answer.
    pub(crate) fn answering(self: &Arc<Self>) -> Answering {
        self.arrived();
        Answering(self.clone())
    }

    /// Returns whether the connection waits for its client: for a request, or for the rest of one.
    pub(crate) fn waits_for_client(&self) -> bool {
        !self.is_answered.load(Ordering::Relaxed)
    }
}
