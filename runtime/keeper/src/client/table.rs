//! Who waits for which message of the keeper.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;

#[cfg(feature = "seccomp")]
use tokio::sync::mpsc;
use tokio::sync::{oneshot, watch};

use super::error::StartError;
use crate::job::Ended;
use crate::message::Event;
#[cfg(feature = "seccomp")]
use crate::observation::Observation;

/// The process id of a started job, and its terminal.
pub(super) type Begun = (u32, Option<OwnedFd>);

/// Everything that waits.
#[derive(Debug, Default)]
pub(super) struct Table {
    lost: bool,
    jobs: BTreeMap<u64, Waiting>,
    /// The releases of jobs that ended, while they are about to be sent.
    held: Option<Vec<u64>>,
    answers: BTreeMap<u64, oneshot::Sender<Result<u32, i32>>>,
}

#[derive(Debug)]
struct Waiting {
    begun: Option<oneshot::Sender<Result<Begun, StartError>>>,
    ended: watch::Sender<Option<Ended>>,
    /// The keeper sends a bounded number of observations for a job.
    #[cfg(feature = "seccomp")]
    observed: Option<mpsc::UnboundedSender<Observation>>,
}

/// The events that a job waits for.
#[derive(Debug)]
pub(super) struct Waits {
    pub(super) begun: oneshot::Receiver<Result<Begun, StartError>>,
    pub(super) ended: watch::Receiver<Option<Ended>>,
}

impl Table {
    pub(super) fn is_lost(&self) -> bool {
        self.lost
    }

    /// Adds a job that is about to be started; `None` when the keeper is lost.
    pub(super) fn add_job(&mut self, number: u64) -> Option<Waits> {
        let (begin, begun) = oneshot::channel();
        let (end, ended) = watch::channel(None);
        if self.lost {
            return None;
        }
        let waiting = Waiting {
            begun: Some(begin),
            ended: end,
            #[cfg(feature = "seccomp")]
            observed: None,
        };
        self.jobs.insert(number, waiting);
        Some(Waits { begun, ended })
    }

    /// Passes the observations of a job on, until it is removed.
    #[cfg(feature = "seccomp")]
    pub(super) fn observe(&mut self, number: u64, to: mpsc::UnboundedSender<Observation>) {
        if let Some(job) = self.jobs.get_mut(&number) {
            job.observed = Some(to);
        }
    }

    pub(super) fn remove_job(&mut self, number: u64) {
        self.jobs.remove(&number);
    }

    /// Takes the release of a job that ended; false if nothing is about to send it.
    pub(super) fn hold(&mut self, number: u64) -> bool {
        self.held.as_mut().map(|held| held.push(number)).is_some()
    }

    /// Takes releases back for which there was no room.
    pub(super) fn hold_again(&mut self, unsent: Vec<u64>) {
        self.held.get_or_insert_default().extend(unsent);
    }

    /// Returns the releases that are to be sent. Later ones are sent by themselves.
    pub(super) fn take_held(&mut self) -> Vec<u64> {
        self.held.take().unwrap_or_default()
    }

    /// Adds a request that is about to be sent; `None` when the keeper is lost.
    pub(super) fn add_answer(&mut self, token: u64) -> Option<oneshot::Receiver<Result<u32, i32>>> {
        let (answer, answered) = oneshot::channel();
        if self.lost {
            return None;
        }
        self.answers.insert(token, answer);
        Some(answered)
    }

    pub(super) fn remove_answer(&mut self, token: u64) {
        self.answers.remove(&token);
    }

    /// Passes on a message. One for a job that was dropped meanwhile is dropped too. Returns whether
    /// releases are held from now on.
    pub(super) fn take(&mut self, event: Event, descriptor: Option<OwnedFd>) -> bool {
        let mut holds = false;
        match event {
            Event::Started { number, pid } => {
                let begun = self.jobs.get_mut(&number).and_then(|job| job.begun.take());
                if let (Some(begun), Ok(pid)) = (begun, u32::try_from(pid)) {
                    let _ = begun.send(Ok((pid, descriptor)));
                }
            }
            Event::Refused { number, step, errno } => {
                let error = io::Error::from_raw_os_error(errno);
                if let Some(begun) = self.jobs.get_mut(&number).and_then(|job| job.begun.take()) {
                    let _ = begun.send(Err(StartError::of_step(step, error)));
                }
            }
            Event::Exited { number, ended } => {
                if let Some(job) = self.jobs.get(&number) {
                    job.ended.send_replace(Some(ended));
                    holds = self.held.is_none();
                    self.held.get_or_insert_default();
                }
            }
            #[cfg(feature = "seccomp")]
            Event::Observed { number, observation } => {
                if let Some(to) = self.jobs.get(&number).and_then(|job| job.observed.as_ref()) {
                    let _ = to.send(observation);
                }
            }
            Event::Answer { token, outcome } => {
                if let Some(answer) = self.answers.remove(&token) {
                    let _ = answer.send(outcome);
                }
            }
            // Both are of the beginning.
            Event::Ready { .. } | Event::Failed { .. } => {}
        }
        holds
    }

    /// Ends all waits: the keeper is gone.
    pub(super) fn lose(&mut self) {
        self.lost = true;
        self.held = None;
        self.answers.clear();
        for job in self.jobs.values_mut() {
            job.begun = None;
            #[cfg(feature = "seccomp")]
            {
                job.observed = None;
            }
            job.ended.send_if_modified(|ended| {
                let is_open = ended.is_none();
                ended.get_or_insert(Ended::Lost);
                is_open
            });
        }
    }
}
