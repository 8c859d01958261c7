//! A job that was started.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use tokio::sync::mpsc::OwnedPermit;
use tokio::sync::{oneshot, watch};

use super::error::StartError;
use super::link::Link;
use super::table::{Begun, Waits};
use crate::job::{Ended, GRACE_MAX, JobId, Reach};
use crate::message::Request;

/// The longest time until a signal is sent.
const SIGNAL_TIME_MAX: Duration = Duration::from_secs(10);

/// The longest time that an end takes after its grace.
const END_TIME_MAX: Duration = Duration::from_secs(10);

/// A job that was started. Dropping it ends every process of the job, with two seconds between TERM
/// and KILL, and releases it.
#[derive(Debug)]
pub struct Running {
    id: JobId,
    pid: u32,
    /// The master of the job's terminal, for callers to take.
    pub terminal: Option<OwnedFd>,
    claim: Claim,
}

impl Running {
    pub(super) fn new(id: JobId, pid: u32, terminal: Option<OwnedFd>, claim: Claim) -> Self {
        Self { id, pid, terminal, claim }
    }

    /// Returns the identity of the job.
    pub fn id(&self) -> JobId {
        self.id
    }

    /// Returns the process id of the leader, which is also that of its group and session. The kernel
    /// keeps it from reuse until this value is dropped or the keeper is lost.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns a future of how the leader ends, independent of this value. Other processes of the job
    /// may still run then. After a drop of this value the outcome is [`Ended::Lost`] unless it was
    /// known.
    pub fn exit(&self) -> impl Future<Output = Ended> + Send + use<> {
        let mut ended = self.claim.ended.clone();
        async move {
            let known = ended.wait_for(Option::is_some).await.ok().and_then(|ended| *ended);
            known.unwrap_or(Ended::Lost)
        }
    }

    /// Signals the job and returns to how many process groups, at least one.
    ///
    /// An error is that of the kernel, such as a permission, or says that the keeper is lost or late.
    pub async fn signal(&self, signal: Signal, reach: Reach) -> io::Result<u32> {
        let (number, signal) = (self.id.number, signal.as_raw());
        let request = |token| Request::Signal { token, number, reach, signal };
        self.claim.link.ask(request, SIGNAL_TIME_MAX).await
    }

    /// Ends every process of the job and returns the number of those left, usually zero.
    ///
    /// TERM comes first; a job with a terminal gets HUP after half a second; KILL comes after
    /// `grace` (at most [`GRACE_MAX`]; zero means at once) and is repeated for five seconds. The
    /// answer comes as soon as all are gone. Processes of another user are left. An error says that
    /// the keeper is lost or late, or that too many ends of this job wait.
    pub async fn end(&self, grace: Duration) -> io::Result<u32> {
        let (number, grace) = (self.id.number, grace.min(GRACE_MAX));
        let request = |token| Request::End { token, number, grace };
        self.claim.link.ask(request, grace + END_TIME_MAX).await
    }
}

/// The right to a job, from before its start. Dropping it releases the job.
pub(super) struct Claim {
    link: Arc<Link>,
    number: u64,
    ended: watch::Receiver<Option<Ended>>,
    /// The place for the release.
    place: Option<OwnedPermit<u64>>,
}

/// Claims a job that is about to be started.
pub(super) async fn claim(
    link: &Arc<Link>,
    number: u64,
) -> Result<(Claim, oneshot::Receiver<Result<Begun, StartError>>), StartError> {
    let place = link.place().await.map_err(|_| StartError::Lost)?;
    let Waits { begun, ended } = link.add_job(number).map_err(|_| StartError::Lost)?;
    Ok((Claim { link: Arc::clone(link), number, ended, place: Some(place) }, begun))
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.link.remove_job(self.number);
        let has_ended = self.ended.borrow().is_some();
        // The keeper passes over the release of an unknown job.
        if let Some(place) = self.place.take()
            && !self.link.releases(self.number, has_ended)
        {
            place.send(self.number);
        }
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim").field("number", &self.number).finish_non_exhaustive()
    }
}
