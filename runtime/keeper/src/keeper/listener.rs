//! The reports of one job's system calls, and their answers.

use std::mem;
use std::os::fd::{AsFd as _, OwnedFd};

use libc::{seccomp_data, seccomp_notif};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::observation::{Observation, SystemCall};
use crate::seccomp::system;

/// The most reports that are answered in one turn of a job; the others of the keeper come next.
const REPORTS_A_TURN: usize = 64;

/// The descriptor of a filter, kept as long as any process has the filter: without it, their observed
/// calls would fail.
pub(super) struct Listener {
    pub(super) job: u64,
    pub(super) descriptor: OwnedFd,
    /// The most calls that are passed on.
    calls_max: u32,
    passed: u32,
    /// Later calls are answered only.
    is_over: bool,
    /// A call of another architecture was passed on. All of those are reported, so one stands for them.
    has_foreign: bool,
}

impl Listener {
    pub(super) fn new(job: u64, descriptor: OwnedFd, calls_max: u32) -> Self {
        Self { job, descriptor, calls_max, passed: 0, is_over: false, has_foreign: false }
    }

    /// Answers the reports that are there, and returns those to pass on, at most `room` and one more.
    /// An error means that the descriptor has served its time.
    pub(super) fn answer(&mut self, room: &mut usize) -> Result<Vec<Observation>, Errno> {
        let mut observations = Vec::new();
        for _ in 0..REPORTS_A_TURN {
            if !self.is_ready()? {
                break;
            }
            let report = match system::receive(self.descriptor.as_fd()) {
                Ok(report) => report,
                // Its process ended after the look.
                Err(Errno::NOENT | Errno::INTR) => continue,
                Err(errno) => return Err(errno),
            };
            // The call runs before anything else is done about it; a process that ended is past an answer.
            let _ = system::let_run(self.descriptor.as_fd(), report.id);
            if let Some(observation) = self.note(&report, *room) {
                *room = room.saturating_sub(1);
                observations.push(observation);
            }
        }
        Ok(observations)
    }

    /// Returns whether a report is there: taking one waits for it.
    fn is_ready(&self) -> Result<bool, Errno> {
        let mut polled = [PollFd::new(&self.descriptor, PollFlags::IN)];
        match poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
        let [descriptor] = polled;
        Ok(descriptor.revents().contains(PollFlags::IN))
    }

    /// Returns the observation to pass on for a report, if any.
    fn note(&mut self, report: &seccomp_notif, room: usize) -> Option<Observation> {
        let seccomp_notif { pid, data, .. } = report;
        let seccomp_data { nr, arch: audit, args: arguments, .. } = *data;
        let call = SystemCall { pid: *pid, audit, number: nr.cast_unsigned(), arguments };
        if self.is_over || call.is_foreign() && mem::replace(&mut self.has_foreign, true) {
            return None;
        }
        if self.passed >= self.calls_max || room == 0 {
            self.is_over = true;
            return Some(Observation::Overflow { pid: *pid, reported: self.passed });
        }
        self.passed += 1;
        Some(Observation::Call(call))
    }
}
