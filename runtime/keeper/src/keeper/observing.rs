//! All that the keeper observes: launchers at work, and the filters of jobs.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags};
use rustix::process::Pid;

use super::launch::{Advance, Launch};
use super::listener::Listener;
use super::start::{self, Order, Refusal};
use crate::job::JobId;
use crate::observation::{Observation, Unobserved};

/// The most jobs that are observed at once, those included of which only processes out of reach are
/// left. Each takes a descriptor, of which a process has 1024 unless it asks for more.
const OBSERVED_JOBS_MAX: usize = 512;

/// The most observations that wait to be sent. A job that makes more meanwhile is over its limit.
const QUEUE_MAX: usize = 16_384;

/// Launchers and filters.
#[derive(Default)]
pub(super) struct Observing {
    launches: BTreeMap<u64, Launch>,
    listeners: Vec<Listener>,
    /// Observations in the keeper's outbox.
    pub(super) queued: usize,
}

/// News of a job.
pub(super) enum News {
    /// To be passed on.
    Observed(Observation),
    /// The program runs, with this leader and the master of its terminal.
    Begun(Pid, Option<OwnedFd>),
    /// The program cannot run.
    Failed(Refusal),
}

impl Observing {
    /// Returns whether one more job may be observed.
    pub(super) fn has_room(&self) -> bool {
        self.launches.len() + self.listeners.len() < OBSERVED_JOBS_MAX
    }

    /// Starts the launcher of a job and returns it.
    pub(super) fn launch(
        &mut self,
        order: &Order,
        id: JobId,
        observed_max: u32,
    ) -> Result<Pid, Refusal> {
        let (leader, master, socket) = start::launch(order, id)?;
        self.launches.insert(id.number, Launch::new(leader, master, socket, observed_max));
        Ok(leader)
    }

    /// Returns whether a job's leader is still a launcher.
    pub(super) fn is_launching(&self, number: u64) -> bool {
        self.launches.contains_key(&number)
    }

    /// Adds the descriptors to wait for.
    pub(super) fn watch<'fd>(&'fd self, polled: &mut Vec<PollFd<'fd>>) {
        let sockets = self.launches.values().map(|launch| &launch.socket);
        let listeners = self.listeners.iter().map(|listener| &listener.descriptor);
        polled.extend(sockets.chain(listeners).map(|one| PollFd::new(one, PollFlags::IN)));
    }

    /// Answers everything, after a wait with these states of what [`watch`](Self::watch) added.
    pub(super) fn answer(&mut self, states: &[PollFlags]) -> Vec<(u64, News)> {
        let (sockets, filters) =
            states.split_at_checked(self.launches.len()).unwrap_or((states, &[]));
        let mut news = self.answer_listeners(filters);
        let ready = self.launches.keys().zip(sockets).filter(|(_, state)| !state.is_empty());
        let ready: Vec<u64> = ready.map(|(number, _)| *number).collect();
        ready.into_iter().for_each(|number| self.advance(number, &mut news));
        news
    }

    fn answer_listeners(&mut self, states: &[PollFlags]) -> Vec<(u64, News)> {
        let mut room = QUEUE_MAX.saturating_sub(self.queued);
        let mut states = states.iter().copied();
        let mut news = Vec::new();
        self.listeners.retain_mut(|listener| {
            let state = states.next().unwrap_or(PollFlags::empty());
            if state.contains(PollFlags::IN) {
                let Ok(observations) = listener.answer(&mut room) else { return false };
                let observed = |one| (listener.job, News::Observed(one));
                news.extend(observations.into_iter().map(observed));
                return true;
            }
            // The last process with this filter is gone.
            !state.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
        });
        news
    }

    /// Goes on with a launch as far as it has come.
    fn advance(&mut self, number: u64, news: &mut Vec<(u64, News)>) {
        while let Some(launch) = self.launches.get_mut(&number) {
            match launch.advance() {
                None => return,
                Some(Advance::Observed(listener)) => {
                    let listener = Listener::new(number, listener, launch.observed_max);
                    self.listeners.push(listener);
                }
                Some(Advance::Unobserved(errno)) => {
                    let reason = Unobserved::Refused(errno.raw_os_error());
                    news.push((number, News::Observed(Observation::Unobserved(reason))));
                }
                Some(Advance::Begun) => {
                    let Some(launch) = self.launches.remove(&number) else { return };
                    news.push((number, News::Begun(launch.leader, launch.master)));
                }
                Some(Advance::Failed(refusal)) => {
                    self.launches.remove(&number);
                    news.push((number, News::Failed(refusal)));
                }
            }
        }
    }
}
