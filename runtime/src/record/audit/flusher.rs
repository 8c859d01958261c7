//! The thread that flushes the audit file, and signs a checkpoint at its time.
//!
//! A flush runs outside of all locks, so records are written meanwhile, and the next flush takes all
//! of them at once.

use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use relay_machine::lock::lock;
use tokio::sync::watch;
use tokio::time::timeout;

use super::writer::Lines;
use crate::settings::config::Durable;

/// The longest wait of an answer for the disk. A disk that takes longer counts as failing.
const SETTLE_MAX: Duration = Duration::from_secs(20);
/// The interval of flushes with `durable = "interval"`.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);

/// The thread, and how far it is.
#[derive(Debug)]
pub(super) struct Flusher {
    durable: Durable,
    wanted: Arc<Wanted>,
    flushed: watch::Receiver<Flushed>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// The end of a wait for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settled {
    /// The disk keeps the lines.
    Kept,
    /// The flush failed, which was noted.
    Failed,
    /// The flush takes too long.
    Late,
}

/// The lines whose flush has ended.
#[derive(Debug, Clone, Copy, Default)]
struct Flushed {
    lines: u64,
    /// The lines at the end of the last flush that failed.
    failed: u64,
}

#[derive(Debug, Default)]
struct Wanted {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Whether there are records since the last round.
    has_more: bool,
    is_ending: bool,
}

impl Flusher {
    /// Starts the thread. `note` is called with the result of each flush.
    pub(super) fn start(
        lines: Arc<Lines>,
        durable: Durable,
        note: impl Fn(io::Result<()>) + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, flushed) = watch::channel(Flushed::default());
        let wanted = Arc::<Wanted>::default();
        let round = Round { lines, durable, wanted: wanted.clone(), sender, note };
        let thread = thread::Builder::new().name("audit".into()).spawn(move || round.run())?;
        Ok(Self { durable, wanted, flushed, thread: Mutex::new(Some(thread)) })
    }

    /// Tells the thread that there are more records.
    pub(super) fn wake(&self) {
        let mut state = lock(&self.wanted.state);
        if !std::mem::replace(&mut state.has_more, true) {
            self.wanted.changed.notify_one();
        }
    }

    /// Waits until the lines so far are flushed, if answers wait for it.
    pub(super) async fn settled(&self, lines: u64) -> Settled {
        if self.durable != Durable::Always {
            return Settled::Kept;
        }
        let mut flushed = self.flushed.clone();
        match timeout(SETTLE_MAX, flushed.wait_for(|flushed| flushed.lines >= lines)).await {
            Ok(Ok(flushed)) if flushed.failed < lines => Settled::Kept,
            Ok(_) => Settled::Failed,
            Err(_) => Settled::Late,
        }
    }

    /// Flushes the rest, and ends the thread.
    pub(super) fn end(&self) {
        lock(&self.wanted.state).is_ending = true;
        self.wanted.changed.notify_one();
        if let Some(thread) = lock(&self.thread).take() {
            // A panic of the thread was logged.
            _ = thread.join();
        }
    }
}

struct Round<N> {
    lines: Arc<Lines>,
    durable: Durable,
    wanted: Arc<Wanted>,
    sender: watch::Sender<Flushed>,
    note: N,
}

impl<N: Fn(io::Result<()>)> Round<N> {
    fn run(&self) {
        loop {
            let is_ending = self.wait();
            self.lines.writer().checkpoint_if(|due| is_ending || due.is_over());
            if self.durable != Durable::Os {
                self.flush();
            }
            if is_ending {
                return;
            }
        }
    }

    /// Waits for the next round; returns whether it is the last.
    fn wait(&self) -> bool {
        let begun = Instant::now();
        let pause = match self.durable {
            Durable::Always => Duration::ZERO,
            Durable::Interval | Durable::Os => FLUSH_INTERVAL,
        };
        loop {
            let checkpoint = self.lines.writer().checkpoint_in();
            let state = lock(&self.wanted.state);
            let elapsed = begun.elapsed();
            let is_due = checkpoint.is_some_and(|left| left.is_zero());
            if state.is_ending || is_due || (state.has_more && elapsed >= pause) {
                let is_ending = state.is_ending;
                let mut state = state;
                state.has_more = false;
                return is_ending;
            }
            let pause = state.has_more.then(|| pause.saturating_sub(elapsed));
            let until = [pause, checkpoint].into_iter().flatten().min();
            let changed = &self.wanted.changed;
            match until {
                Some(until) => {
                    drop(changed.wait_timeout(state, until).unwrap_or_else(PoisonError::into_inner))
                }
                None => drop(changed.wait(state).unwrap_or_else(PoisonError::into_inner)),
            }
        }
    }

    fn flush(&self) {
        let (files, lines) = {
            let mut writer = self.lines.writer();
            // In this order, since the lock keeps other lines out.
            (writer.take_unflushed(), self.lines.done())
        };
        let before = *self.sender.borrow();
        if files.is_empty() && lines == before.lines {
            return;
        }
        let flushed = files.iter().try_for_each(relay_machine::audit::Unflushed::flush);
        let mut failed = before.failed;
        if flushed.is_err() {
            failed = lines;
            let renewed = self.lines.writer().note_unflushed(lines.saturating_sub(before.lines));
            if let Err(error) = renewed {
                tracing::error!("the audit file cannot be opened again: {error}");
            }
        }
        if !files.is_empty() {
            (self.note)(flushed);
        }
        self.sender.send_replace(Flushed { lines, failed });
    }
}
