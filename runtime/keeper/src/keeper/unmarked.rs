//! Adopted processes whose mark is unknown, so that they may be of any job.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::process::{Mark, Orphan};

/// The time after which such a process counts as one of another job: its memory is hidden for good.
const UNKNOWN_MAX: Duration = Duration::from_millis(250);

/// These processes, by number and start, with the time since which the mark of each is unknown. So each holds
/// the ends of jobs up once.
#[derive(Default)]
pub(super) struct Unmarked(BTreeMap<(i32, u64), Instant>);

impl Unmarked {
    /// Returns whether the mark of an orphan is still awaited.
    pub(super) fn are_awaited(&mut self, orphans: &[Orphan], now: Instant) -> bool {
        let unknown = orphans.iter().filter(|orphan| *orphan.mark() == Mark::Unknown);
        let unknown: BTreeSet<_> = unknown
            .map(|Orphan { process, .. }| (process.pid.as_raw_pid(), process.started))
            .collect();
        self.0.retain(|process, _| unknown.contains(process));
        for process in unknown {
            self.0.entry(process).or_insert(now);
        }
        self.0.values().any(|since| now < *since + UNKNOWN_MAX)
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::Pid;

    use super::*;
    use crate::keeper::process::Process;

    fn orphan(pid: i32, mark: Mark) -> Orphan {
        let pid = Pid::from_raw(pid).unwrap();
        let process = Process { pid, parent: 1, group: 1, session: 1, started: 7, alive: true };
        Orphan::marked(process, mark)
    }

    #[test]
    fn each_process_holds_ends_up_once() {
        let begin = Instant::now();
        let after = |millis| begin + Duration::from_millis(millis);
        let mut unmarked = Unmarked::default();
        let hidden = [orphan(7, Mark::Unknown)];
        assert!(!unmarked.are_awaited(&[orphan(7, Mark::None)], begin));
        assert!(unmarked.are_awaited(&hidden, begin));
        assert!(unmarked.are_awaited(&hidden, after(249)));
        assert!(!unmarked.are_awaited(&hidden, after(250)));
        let another = [orphan(7, Mark::Unknown), orphan(8, Mark::Unknown)];
        assert!(unmarked.are_awaited(&another, after(300)));
        assert!(!unmarked.are_awaited(&another, after(550)));
        // It showed a mark in between, so it goes from program to program.
        assert!(!unmarked.are_awaited(&[orphan(7, Mark::Of(vec![1]))], after(600)));
        assert!(unmarked.are_awaited(&hidden, after(601)));
    }
}
