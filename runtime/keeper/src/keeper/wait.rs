//! Times of a wait.

use std::time::{Duration, Instant};

use rustix::event::Timespec;

/// Returns the time from now until `due`, rounded up: a step is due when the wait for it is over.
pub(super) fn timespec(due: Instant) -> Timespec {
    let duration = due.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
    let seconds = i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    Timespec { tv_sec: seconds, tv_nsec: duration.subsec_nanos().into() }
}
