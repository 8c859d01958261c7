//! The running calls of tools: their number, their time limits, and how they end.
//!
//! This module knows nothing of the tools' work. The number of concurrent calls of a caller is
//! limited, every call has a time limit, and the server ends after its calls.

use std::future::Future;
use std::time::Duration;

use thiserror::Error;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::principal::{CallerKey, Principal};
use super::slots::{Slot, Slots};

/// The most calls of one caller that wait for a person.
const WAITING_EACH_MAX: usize = 16;
/// The longest wait of an approved call for a slot to run in.
const SLOT_WAIT_MAX: Duration = Duration::from_secs(5);

/// The running calls.
#[derive(Debug)]
pub(crate) struct Calls {
    running: Slots<CallerKey>,
    /// The calls that wait for a person, who may take long.
    waiting: Slots<CallerKey>,
    /// The calls that read for long at a stretch, one a caller: others need the processor too.
    long_reads: Slots<CallerKey>,
    /// Cancelled when all calls must end.
    ending: CancellationToken,
}

/// A slot for one call, until it has ended.
pub(crate) type Room = Slot<CallerKey>;

/// Why a call ended before its tool finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum Interrupted {
    #[error("cancelled")]
    Cancelled,
    #[error("timeout")]
    TimedOut { run_s_max: u32 },
}

impl Calls {
    pub(crate) fn new(principal_calls_max: usize) -> Self {
        Self {
            running: Slots::new(principal_calls_max),
            waiting: Slots::new(WAITING_EACH_MAX),
            long_reads: Slots::new(1),
            ending: CancellationToken::new(),
        }
    }

    /// Returns how many calls of one caller may run concurrently.
    pub(crate) fn principal_calls_max(&self) -> usize {
        self.running.each_max()
    }

    /// Takes a slot for a call of `principal`; `None` if all its slots are in use.
    pub(crate) fn room(&self, principal: &Principal) -> Option<Room> {
        self.running.take(principal.caller_key())
    }

    /// Takes a slot for a call of `principal` as soon as one is free, within five seconds.
    pub(crate) async fn room_soon(&self, principal: &Principal) -> Option<Room> {
        let until = Instant::now() + SLOT_WAIT_MAX;
        self.running.take_until(principal.caller_key(), until).await
    }

    /// Returns how many calls of one caller may wait for a person.
    pub(crate) fn principal_waiting_max(&self) -> usize {
        self.waiting.each_max()
    }

    /// Returns how many calls of `principal` wait for a person.
    pub(crate) fn waiting(&self, principal: &Principal) -> usize {
        self.waiting.held_by(&principal.caller_key())
    }

    /// Takes a slot for a call of `principal` that waits for a person; `None` if all are in use.
    pub(crate) fn waiting_room(&self, principal: &Principal) -> Option<Room> {
        self.waiting.take(principal.caller_key())
    }

    /// Takes the slot for a call of `principal` that reads for long; `None` if it is in use.
    pub(crate) fn long_read(&self, principal: &Principal) -> Option<Room> {
        self.long_reads.take(principal.caller_key())
    }

    /// Runs `work` until it is done, it is `cancelled`, or `run_s_max` seconds have passed.
    ///
    /// The token that `work` gets is cancelled when this returns, so that anything `work` started,
    /// such as a thread, can end.
    pub(crate) async fn run<T, F: Future<Output = T>>(
        &self,
        run_s_max: u32,
        cancelled: &CancellationToken,
        work: impl FnOnce(CancellationToken) -> F,
    ) -> Result<T, Interrupted> {
        let stop = CancellationToken::new();
        let _stop = stop.clone().drop_guard();
        tokio::select! {
            // In this order, so that a call cancelled before its first step does nothing.
            biased;
            () = cancelled.cancelled() => Err(Interrupted::Cancelled),
            () = self.ending.cancelled() => Err(Interrupted::Cancelled),
            done = work(stop) => Ok(done),
            () = sleep(Duration::from_secs(run_s_max.into())) => {
                Err(Interrupted::TimedOut { run_s_max })
            }
        }
    }

    /// Cancels every call, and waits until each has ended, `drain_s_max` seconds at most.
    pub(crate) async fn end(&self, drain_s_max: u32) {
        self.ending.cancel();
        let ended = async {
            self.waiting.all_free().await;
            self.running.all_free().await;
        };
        if timeout(Duration::from_secs(drain_s_max.into()), ended).await.is_err() {
            tracing::warn!("some calls did not end in time and are not recorded");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::sync::Arc;

    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn work_over_its_time_limit_is_ended_and_its_token_is_cancelled() {
        let (calls, cancelled) = (Calls::new(1), CancellationToken::new());
        let mut heard = None;
        let work = |stop: CancellationToken| {
            heard = Some(stop);
            pending::<()>()
        };
        let ended = calls.run(0, &cancelled, work).await;
        assert_eq!(ended, Err(Interrupted::TimedOut { run_s_max: 0 }));
        assert!(heard.expect("it ran").is_cancelled());
    }

    #[tokio::test]
    async fn work_ends_when_its_client_cancels_or_the_server_stops() {
        let (calls, cancelled) = (Arc::new(Calls::new(1)), CancellationToken::new());
        let started = Arc::new(Notify::new());
        let start = |cancelled: CancellationToken| {
            let (calls, started) = (calls.clone(), started.clone());
            let room = calls.room(&Principal::default()).expect("room");
            tokio::spawn(async move {
                let work = |_| async move {
                    started.notify_one();
                    pending::<()>().await;
                };
                let ended = calls.run(3600, &cancelled, work).await;
                drop(room);
                ended
            })
        };
        let call = start(cancelled.clone());
        started.notified().await;
        cancelled.cancel();
        assert_eq!(call.await.expect("no panic"), Err(Interrupted::Cancelled));

        let call = start(CancellationToken::new());
        started.notified().await;
        calls.end(3600).await;
        calls.running.all_free().await;
        assert_eq!(call.await.expect("no panic"), Err(Interrupted::Cancelled));
    }

    #[tokio::test]
    async fn a_cancelled_call_does_not_begin() {
        let (calls, cancelled) = (Calls::new(1), CancellationToken::new());
        cancelled.cancel();
        let ended = calls.run(3600, &cancelled, |_| ready(())).await;
        assert_eq!(ended, Err(Interrupted::Cancelled));
    }

    #[test]
    fn the_concurrent_calls_of_a_caller_are_limited() {
        let calls = Calls::new(2);
        let ann = Principal { id: "ann".to_owned(), ..Principal::default() };
        let of_acme = Principal { tenant: Some("acme".to_owned()), ..ann.clone() };
        let [one, _two] = [calls.room(&ann), calls.room(&ann)].map(|room| room.expect("room"));
        assert!(calls.room(&ann).is_none());
        let other = calls.room(&of_acme).expect("another tenant is another caller");
        let token = Principal { issuer: Some("https://login.example".to_owned()), ..ann.clone() };
        let third = calls.room(&token).expect("another issuer is another caller");
        drop((one, other, third));
        assert!(calls.room(&ann).is_some());
    }
}
