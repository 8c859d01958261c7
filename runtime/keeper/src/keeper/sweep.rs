//! The end of processes that an earlier keeper of this server left when it was killed.
//!
//! Nothing else knows them any more, so every process of the machine is asked for its mark.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::process::{self, Mark, Process};
use crate::job::JobId;

/// The time between TERM and KILL, and between two rounds of KILL.
const GRACE: Duration = Duration::from_secs(2);

/// The most rounds of KILL.
const ROUNDS_MAX: u32 = 3;

/// The end of one keeper's processes that goes on.
pub(super) struct Sweep {
    /// The beginning of the marks of that keeper.
    mark: String,
    due: Instant,
    rounds: u32,
}

impl Sweep {
    pub(super) fn new(keeper: u64, now: Instant) -> Self {
        let mark = JobId { keeper, number: 0 }.mark_of_keeper();
        Self { mark, due: now, rounds: 0 }
    }

    pub(super) fn due(&self) -> Instant {
        self.due
    }

    /// Takes the next step if it is due; returns whether another follows.
    pub(super) fn go_on(&mut self, now: Instant) -> bool {
        if now < self.due {
            return true;
        }
        let left = self.left();
        let signals: &[Signal] =
            if self.rounds == 0 { &[Signal::TERM, Signal::CONT] } else { &[Signal::KILL] };
        let _ = process::signal_groups(&left, signals);
        self.rounds += 1;
        self.due = now + GRACE;
        // The mark of a process that came to another program was unknown at the first look.
        self.rounds == 1 || !left.is_empty() && self.rounds <= ROUNDS_MAX
    }

    /// Sends KILL at once.
    pub(super) fn hurry(&self) {
        let _ = process::signal_groups(&self.left(), &[Signal::KILL]);
    }

    fn left(&self) -> Vec<Process> {
        let marked = process::all().into_iter().filter(|pid| {
            matches!(process::mark(*pid), Mark::Of(mark) if mark.starts_with(self.mark.as_bytes()))
        });
        marked.filter_map(process::read).filter(|process| process.alive).collect()
    }
}
