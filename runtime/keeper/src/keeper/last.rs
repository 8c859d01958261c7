//! The end of a keeper, after that of its server.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

use super::ending::{Deed, Ending};
use super::process::signal_groups;
use super::reap;
use super::setup::Setup;
use super::wait::timespec;

/// The time between TERM and KILL.
const GRACE: Duration = Duration::from_secs(2);

/// Ends every descendant, and returns when the last is gone or after a limit of time.
pub(super) fn end_all(setup: &Setup) {
    let mut ending = Ending::new(Instant::now(), GRACE, true);
    // Every orphan becomes a child of the keeper, so the last child is the last descendant.
    while reap::reap_all() {
        match ending.deed(Instant::now()) {
            Deed::Signal(signals) => _ = signal_groups(&setup.family.descendants(), signals),
            Deed::GiveUp => return,
            Deed::Wait => {
                let timeout = timespec(ending.due());
                let mut polled = [PollFd::new(&setup.signals, PollFlags::IN)];
                let _ = poll(&mut polled, Some(&timeout));
                setup.forget_signals();
            }
        }
    }
}
