//! The times and numbers of a pool.

use std::time::Duration;

/// The limits of a [`Pool`](crate::Pool).
#[derive(Clone, Debug)]
pub struct Limits {
    /// The longest time from the first packet to the last login of a route.
    pub connect: Duration,
    /// The longest time that a host takes to open a channel or to answer a request.
    pub answer: Duration,
    /// The silence after which a host is asked for a sign of life.
    pub keepalive: Duration,
    /// The unanswered questions after which a connection counts as lost.
    pub keepalive_misses: usize,
    /// The time after which an unused connection ends.
    pub idle: Duration,
    /// The most connections at once, those in progress included.
    pub connections_max: usize,
}

impl Limits {
    /// Returns the time after which a silent or blocked peer counts as lost.
    pub(crate) fn silence(&self) -> Duration {
        let misses = u32::try_from(self.keepalive_misses).unwrap_or(u32::MAX);
        self.keepalive.saturating_mul(misses.saturating_add(1))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(20),
            answer: Duration::from_secs(15),
            keepalive: Duration::from_secs(30),
            keepalive_misses: 3,
            idle: Duration::from_secs(300),
            connections_max: 64,
        }
    }
}
