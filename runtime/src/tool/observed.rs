//! The start of processes for tools, and the records of their system calls if the server observes them.

use relay_keeper::{Job, Keeper, Running, StartError};

use super::call::Call;

#[cfg(feature = "seccomp")]
mod records;

/// The records of the system calls of one job.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    #[cfg(feature = "seccomp")]
    done: Option<tokio::sync::oneshot::Receiver<()>>,
}

impl Recorded {
    /// Waits until all are written, after the job was dropped.
    #[cfg(feature = "seccomp")]
    pub(super) async fn complete(self) {
        if let Some(done) = self.done {
            // An error means that the server stops, which waits for the records itself.
            _ = done.await;
        }
    }

    /// Returns at once: this build writes no such records.
    #[cfg(not(feature = "seccomp"))]
    pub(super) async fn complete(self) {}
}

/// Starts a job for a call; observes it if the server is so configured and able to.
#[cfg(feature = "seccomp")]
pub(super) async fn spawn(
    call: &Call,
    keeper: &Keeper,
    job: Job,
) -> Result<(Running, Recorded), StartError> {
    let Some(calls_max) = call.server.processes.observed_calls_max() else {
        return Ok((keeper.spawn(job).await?, Recorded::default()));
    };
    let (running, observations) = keeper.spawn_observed(job, calls_max).await?;
    Ok((running, Recorded { done: Some(records::write(call, calls_max, observations)) }))
}

/// Starts a job for a call.
#[cfg(not(feature = "seccomp"))]
pub(super) async fn spawn(
    _: &Call,
    keeper: &Keeper,
    job: Job,
) -> Result<(Running, Recorded), StartError> {
    Ok((keeper.spawn(job).await?, Recorded::default()))
}
