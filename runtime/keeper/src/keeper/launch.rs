//! The start of an observed job, from its launcher to its program.

use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::process::Pid;

use super::start::Refusal;
use crate::job::Step;
use crate::launcher::{GO_ON, MESSAGE_BYTES_MAX, Report};
use crate::packet;

/// A launcher at work.
pub(super) struct Launch {
    pub(super) leader: Pid,
    pub(super) master: Option<OwnedFd>,
    pub(super) socket: OwnedFd,
    /// The most calls that are reported.
    pub(super) observed_max: u32,
    /// It was told to go on, so its end of the socket is closed by the program's start.
    executes: bool,
}

/// The next step of a launch.
pub(super) enum Advance {
    /// The filter is set; its reports come from this descriptor.
    Observed(OwnedFd),
    /// The kernel refused the filter.
    Unobserved(Errno),
    /// The program runs.
    Begun,
    /// The program cannot run.
    Failed(Refusal),
}

impl Launch {
    pub(super) fn new(
        leader: Pid,
        master: Option<OwnedFd>,
        socket: OwnedFd,
        observed_max: u32,
    ) -> Self {
        Self { leader, master, socket, observed_max, executes: false }
    }

    /// Takes the next message; `None` if it is yet to come.
    pub(super) fn advance(&mut self) -> Option<Advance> {
        let mut buffer = [0; MESSAGE_BYTES_MAX];
        let (report, descriptors) = match packet::receive(&self.socket, &mut buffer) {
            Ok(Some(packet)) => (Report::decode(packet.bytes), packet.descriptors),
            Ok(None) if self.executes => return Some(Advance::Begun),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
            // It ended before its time.
            Ok(None) | Err(_) => return Some(failed(Step::Exec, Errno::IO)),
        };
        Some(match report {
            Ok(Report::Observed) => match descriptors.into_iter().next() {
                Some(listener) => self.go_on(Advance::Observed(listener)),
                // The keeper has as many descriptors as it may.
                None => failed(Step::Admit, Errno::MFILE),
            },
            Ok(Report::Unobserved { errno }) => {
                self.go_on(Advance::Unobserved(Errno::from_raw_os_error(errno)))
            }
            Ok(Report::Failed { errno }) => failed(Step::Exec, Errno::from_raw_os_error(errno)),
            Err(_) => failed(Step::Exec, Errno::PROTO),
        })
    }

    /// Tells the launcher to go on. Its calls wait until the keeper answers them.
    fn go_on(&mut self, advance: Advance) -> Advance {
        self.executes = true;
        // An error is its end, which the next look sees.
        let _ = packet::send(&self.socket, GO_ON, &[]);
        advance
    }
}

fn failed(step: Step, errno: Errno) -> Advance {
    Advance::Failed(Refusal { step, errno })
}
