//! One connect that several callers wait for.

use std::future::Future;

use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::connection::ConnectError;

/// A connect in progress. It is given up when its last owner drops it.
pub(super) struct Flight {
    result: watch::Receiver<Option<Result<(), ConnectError>>>,
    task: AbortHandle,
}

impl Flight {
    /// Begins to connect.
    pub(super) fn start(
        connect: impl Future<Output = Result<(), ConnectError>> + Send + 'static,
    ) -> Self {
        let (sender, result) = watch::channel(None);
        let task = tokio::spawn(async move {
            let landed = connect.await;
            sender.send_replace(Some(landed));
        });
        Self { result, task: task.abort_handle() }
    }

    /// Waits for the end of the connect. `None`: it was given up.
    pub(super) async fn landed(&self) -> Option<Result<(), ConnectError>> {
        let mut result = self.result.clone();
        result.wait_for(Option::is_some).await.ok()?.clone()
    }

    /// Returns whether the connect has ended.
    pub(super) fn has_landed(&self) -> bool {
        self.result.borrow().is_some() || self.task.is_finished()
    }

    /// Gives the connect up.
    pub(super) fn abort(&self) {
        self.task.abort();
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.task.abort();
    }
}
