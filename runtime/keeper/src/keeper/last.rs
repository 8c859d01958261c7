//! The end of a keeper, after that of its server.

use std::time::{Duration, Instant};

use rustix::event::Timespec;

use super::ending::{Deed, Ending};
use super::process::signal_groups;
use super::reap;
use super::setup::Setup;
use super::wait::timespec;

/// The time between TERM and KILL: no process may outlive its server by two seconds, and a busy machine
/// takes a part of them to end many.
const GRACE: Duration = Duration::from_secs(1);

/// Ends every descendant, and returns when the last is gone or after a limit of time. `wait` waits for the
/// end of a child.
pub(super) fn end_all(setup: &Setup, mut wait: impl FnMut(&Timespec)) {
    let mut ending = Ending::new(Instant::now(), GRACE, true);
    // Every orphan becomes a child of the keeper, so the last child is the last descendant.
    while reap::reap_all() {
        match ending.deed(Instant::now()) {
            Deed::Signal(signals) => _ = signal_groups(&setup.family.descendants(), signals),
            Deed::GiveUp => return,
            Deed::Wait => wait(&timespec(ending.due())),
        }
    }
}
