//! The lane of large requests: one thread that parses and answers them, one after the other.
//!
//! Parsing a large body takes milliseconds at a stretch. On the threads that answer everyone, all
//! others would wait for it.

use std::io;

use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinError, JoinSet};

/// A thread of its own. The budget of bodies limits the waiting requests.
#[derive(Debug)]
pub(super) struct Lane(Option<Runtime>);

impl Lane {
    pub(super) fn new() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("lane")
            .enable_all()
            .build()?;
        Ok(Self(Some(runtime)))
    }

    /// Runs `work` in the lane; ends it if this future is dropped.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<Result<T, JoinError>> {
        let mut task = JoinSet::new();
        task.spawn_on(work, self.0.as_ref()?.handle());
        task.join_next().await
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // A runtime that is dropped within a task must leave its own tasks behind at once.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
