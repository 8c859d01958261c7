//! The steps by which a job is ended: TERM, HUP for a terminal, and KILL until it is gone.

use std::time::{Duration, Instant};

use rustix::process::Signal;

/// The time between TERM and HUP: interactive shells ignore TERM.
const HANG_UP_AFTER: Duration = Duration::from_millis(500);

/// The time between two rounds of KILL.
pub(super) const KILL_ROUND: Duration = Duration::from_millis(20);

/// The time of KILL rounds after which the rest is reported as left. Such processes are those of
/// another user, or wait for a device.
pub(super) const KILL_TIME_MAX: Duration = Duration::from_secs(5);

/// The time between two looks at a job that may be empty.
const LOOK_ROUND: Duration = Duration::from_millis(1);

/// The end of a job that goes on.
#[derive(Debug)]
pub(super) struct Ending {
    stage: Stage,
    /// When the next step is due.
    due: Instant,
    hang_up: Option<Instant>,
    kill: Instant,
    /// Counted from the first KILL: a keeper that was held up still sends it.
    give_up: Option<Instant>,
    /// When to look again whether the job is empty.
    look: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Term,
    HangUp,
    Kill,
}

/// The next thing to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// Wait until the next step is due.
    Wait,
    /// These signals, in order, to every process.
    Signal(&'static [Signal]),
    /// Report the processes that are left.
    GiveUp,
}

impl Ending {
    /// Begins an end now, with KILL after `grace`. A grace of zero leaves out the rest.
    pub(super) fn new(now: Instant, grace: Duration, has_terminal: bool) -> Self {
        let hang_up = (has_terminal && grace > HANG_UP_AFTER).then(|| now + HANG_UP_AFTER);
        let stage = if grace.is_zero() { Stage::Kill } else { Stage::Term };
        Self { stage, due: now, hang_up, kill: now + grace, give_up: None, look: None }
    }

    /// Moves KILL to an earlier time.
    pub(super) fn shorten(&mut self, now: Instant, grace: Duration) {
        if self.give_up.is_none() && now + grace < self.kill {
            self.kill = now + grace;
            self.due = self.due.min(self.kill);
        }
    }

    pub(super) fn due(&self) -> Instant {
        self.look.map_or(self.due, |look| look.min(self.due))
    }

    /// Leaves the next step of a job that may be empty to another look.
    pub(super) fn look_again(&mut self, now: Instant) {
        self.look = Some(now + LOOK_ROUND);
    }

    /// Returns the deed of this moment for a job that has processes, and moves on.
    pub(super) fn deed(&mut self, now: Instant) -> Deed {
        self.look = None;
        if now < self.due {
            return Deed::Wait;
        }
        if now >= self.kill {
            self.stage = Stage::Kill;
        }
        match self.stage {
            // A stopped process gets a signal when it goes on.
            Stage::Term => {
                self.due = self.hang_up.map_or(self.kill, |hang_up| hang_up.min(self.kill));
                self.stage = if self.hang_up.is_some() { Stage::HangUp } else { Stage::Kill };
                Deed::Signal(&[Signal::TERM, Signal::CONT])
            }
            Stage::HangUp => {
                self.due = self.kill;
                self.stage = Stage::Kill;
                Deed::Signal(&[Signal::HUP, Signal::CONT])
            }
            Stage::Kill if self.give_up.is_some_and(|give_up| now > give_up) => Deed::GiveUp,
            Stage::Kill => {
                self.due = now + KILL_ROUND;
                self.give_up.get_or_insert(now + KILL_TIME_MAX);
                Deed::Signal(&[Signal::KILL])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The signals of an end with the millisecond of each, up to the first KILL.
    fn course(grace: u64, has_terminal: bool) -> Vec<(u128, Signal)> {
        let begin = Instant::now();
        let mut ending = Ending::new(begin, Duration::from_millis(grace), has_terminal);
        let mut course = Vec::new();
        while course.last().is_none_or(|(_, signal)| *signal != Signal::KILL) {
            let now = ending.due();
            if let Deed::Signal(signals) = ending.deed(now) {
                course.push(((now - begin).as_millis(), signals[0]));
            }
        }
        course
    }

    #[test]
    fn an_end_has_its_course() {
        assert_eq!(course(2000, false), [(0, Signal::TERM), (2000, Signal::KILL)]);
        let terminal = [(0, Signal::TERM), (500, Signal::HUP), (2000, Signal::KILL)];
        assert_eq!(course(2000, true), terminal);
        assert_eq!(course(300, true), [(0, Signal::TERM), (300, Signal::KILL)]);
        assert_eq!(course(0, true), [(0, Signal::KILL)]);
    }

    #[test]
    fn another_look_comes_before_the_next_step_and_takes_none() {
        let begin = Instant::now();
        let mut ending = Ending::new(begin, Duration::from_secs(60), false);
        ending.look_again(begin);
        assert_eq!(ending.due(), begin);
        assert_ne!(ending.deed(begin), Deed::Wait);
        ending.look_again(begin);
        assert_eq!(ending.due(), begin + LOOK_ROUND);
        assert_eq!(ending.deed(begin + LOOK_ROUND), Deed::Wait);
        assert_eq!(ending.due(), begin + Duration::from_secs(60));
    }

    #[test]
    fn a_shorter_grace_is_taken_and_the_end_has_a_limit() {
        let begin = Instant::now();
        let mut ending = Ending::new(begin, Duration::from_secs(60), false);
        assert_ne!(ending.deed(begin), Deed::Wait);
        ending.shorten(begin, Duration::from_secs(90));
        assert_eq!(ending.due(), begin + Duration::from_secs(60));
        ending.shorten(begin, Duration::from_secs(1));
        assert_eq!(ending.deed(begin), Deed::Wait);
        let kill = begin + Duration::from_secs(1);
        assert_eq!(ending.deed(kill), Deed::Signal(&[Signal::KILL]));
        assert_eq!(ending.deed(kill + KILL_TIME_MAX + KILL_ROUND), Deed::GiveUp);
    }
}
