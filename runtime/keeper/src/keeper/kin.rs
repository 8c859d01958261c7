//! Which processes belong to a job.
//!
//! Below a living leader it is plain. Orphans are told by their session, by the mark in their
//! environment, and by having been seen below the leader before.

use std::collections::BTreeSet;

use rustix::process::Pid;

use super::process::{Look, Mark, Orphan, PROCESSES_MAX, Process};
use crate::job::JobId;

/// The signs by which processes of one job are told from others.
pub(super) struct Kin {
    leader: Pid,
    /// The value of the mark.
    mark: String,
    /// The beginning that the marks of all jobs of this keeper have.
    marks_of_keeper: String,
    /// Processes that were seen while the job is being ended, with their start.
    known: BTreeSet<(i32, u64)>,
    /// The sessions of these, and those that they may have made since: a session has the number of
    /// the process that made it.
    sessions: BTreeSet<i32>,
}

impl Kin {
    pub(super) fn new(id: JobId, leader: Pid) -> Self {
        let marks_of_keeper = id.mark_of_keeper();
        let (known, sessions) = (BTreeSet::new(), BTreeSet::new());
        Self { leader, mark: id.to_string(), marks_of_keeper, known, sessions }
    }

    /// Lists the living processes of the leader's session.
    pub(super) fn session(&self, look: &Look, orphans: &[Orphan]) -> Vec<Process> {
        let in_session = |process: &Process| process.session == self.leader.as_raw_pid();
        let own =
            orphans.iter().map(|orphan| &orphan.process).filter(|process| in_session(process));
        let roots = own.map(|process| process.pid).chain([self.leader]).collect();
        let mut members = look.walk(roots);
        members.retain(in_session);
        members
    }

    /// Lists the living processes of the job, for its end. `None` means that the job is empty; a list
    /// without entries, that the look came between two states.
    pub(super) fn members(
        &mut self,
        look: &Look,
        orphans: &[Orphan],
        leader: Option<Pid>,
    ) -> Option<Vec<Process>> {
        let (mut members, mut count) = (Vec::new(), 0);
        loop {
            let own = orphans.iter().filter(|orphan| self.includes(orphan));
            let roots: Vec<Pid> = own.map(|orphan| orphan.process.pid).chain(leader).collect();
            if roots.is_empty() {
                return None;
            }
            // The session of a new member may make kin of another orphan.
            if roots.len() == count {
                return Some(members);
            }
            count = roots.len();
            members = look.walk(roots);
            self.remember(&members);
        }
    }

    fn remember(&mut self, members: &[Process]) {
        // Earlier ones stay known: one may become an orphan between two looks.
        if self.known.len() > PROCESSES_MAX {
            self.forget();
        }
        for member in members {
            let pid = member.pid.as_raw_pid();
            self.known.insert((pid, member.started));
            self.sessions.extend([pid, member.session]);
        }
    }

    /// Forgets the processes that were seen: later ones may get their numbers.
    pub(super) fn forget(&mut self) {
        self.known.clear();
        self.sessions.clear();
    }

    fn includes(&self, orphan: &Orphan) -> bool {
        let process = &orphan.process;
        if process.session == self.leader.as_raw_pid()
            || self.known.contains(&(process.pid.as_raw_pid(), process.started))
        {
            return true;
        }
        match orphan.mark() {
            Mark::Of(mark) if mark == self.mark.as_bytes() => true,
            // Another job's, in a session whose number was used before.
            Mark::Of(mark) if mark.starts_with(self.marks_of_keeper.as_bytes()) => false,
            _ => self.sessions.contains(&process.session),
        }
    }
}
