//! Standard output: whole lines in turn, with limits for waiting lines.
//!
//! A slow reader holds up its own requests. A client that ended its input and stops reading has
//! left, and the server stops waiting for it.

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use relay_machine::lock::lock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// The most lines that wait before the next request is read.
const WAITING_LINES_MAX: usize = 64;
/// The most bytes that wait before the next request is read.
const WAITING_BYTES_MAX: usize = 4 << 20;
/// The interval of checks of a client's input while it leaves answers unread.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// The interval of checks whether a client closed its end of standard output.
const CLOSED_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Standard output.
pub(super) struct Outlet<W> {
    writer: tokio::sync::Mutex<W>,
    waiting: Mutex<Waiting>,
    /// Notified when less waits.
    written: Notify,
    /// Cancelled when writing ends.
    pub(super) closed: CancellationToken,
    is_held_up: AtomicBool,
    drain: Duration,
}

#[derive(Debug, Default)]
struct Waiting {
    lines: usize,
    bytes: usize,
}

/// A line that waits to be written; it counts until it is dropped.
pub(super) struct Pending<W> {
    line: Vec<u8>,
    outlet: Arc<Outlet<W>>,
}

impl<W> Drop for Pending<W> {
    fn drop(&mut self) {
        let mut waiting = lock(&self.outlet.waiting);
        waiting.lines -= 1;
        waiting.bytes -= self.line.len();
        drop(waiting);
        self.outlet.written.notify_one();
    }
}

impl<W> Outlet<W> {
    pub(super) fn new(writer: W, drain: Duration) -> Arc<Self> {
        Arc::new(Self {
            writer: tokio::sync::Mutex::new(writer),
            waiting: Mutex::default(),
            written: Notify::new(),
            closed: CancellationToken::new(),
            is_held_up: AtomicBool::new(false),
            drain,
        })
    }

    /// Counts a line as waiting.
    pub(super) fn pend(self: &Arc<Self>, line: Vec<u8>) -> Pending<W> {
        let mut waiting = lock(&self.waiting);
        waiting.lines += 1;
        waiting.bytes += line.len();
        drop(waiting);
        Pending { line, outlet: self.clone() }
    }

    /// Waits until another request may be read; returns false after writing has ended.
    pub(super) async fn has_room(&self) -> bool {
        loop {
            let Waiting { lines, bytes } = *lock(&self.waiting);
            if lines < WAITING_LINES_MAX && bytes < WAITING_BYTES_MAX {
                return !self.closed.is_cancelled();
            }
            if !self.is_held_up.swap(true, Ordering::Relaxed) {
                tracing::warn!("the client does not read its answers: its next requests wait");
            }
            tokio::select! {
                () = self.written.notified() => {}
                () = self.closed.cancelled() => return false,
            }
        }
    }
}

impl<W: AsyncWrite + Unpin> Pending<W> {
    /// Writes the line.
    pub(super) async fn write(self) -> io::Result<()> {
        let outlet = &self.outlet;
        let write = async {
            let mut writer = outlet.writer.lock().await;
            outlet.write_all(&mut *writer, &self.line).await
        };
        tokio::select! {
            biased;
            () = outlet.closed.cancelled() => Err(io::ErrorKind::NotConnected.into()),
            written = write => written,
        }
    }
}

impl<W: AsyncWrite + Unpin> Outlet<W> {
    async fn write_all(&self, writer: &mut W, mut rest: &[u8]) -> io::Result<()> {
        while !rest.is_empty() {
            let written = self.while_client_is_there(writer.write(rest)).await?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            rest = rest.get(written..).unwrap_or_default();
        }
        self.while_client_is_there(writer.flush()).await
    }

    /// Waits for `step`; for `drain` at most after the client has ended its input.
    async fn while_client_is_there<T>(
        &self,
        step: impl Future<Output = io::Result<T>>,
    ) -> io::Result<T> {
        tokio::pin!(step);
        let mut waited = Duration::ZERO;
        loop {
            match timeout(CHECK_INTERVAL, &mut step).await {
                Ok(done) => return done,
                Err(_) if waited >= self.drain => {
                    tracing::warn!("the client ended its input and does not read its answers");
                    self.closed.cancel();
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Err(_) if input_has_ended() => waited += CHECK_INTERVAL,
                Err(_) => {}
            }
        }
    }
}

/// Waits until the client closed its end of standard output, a second late at most. A write would find
/// that out too, but the next one may come after a long call.
pub(super) async fn until_closed() {
    while !output_is_closed() {
        sleep(CLOSED_CHECK_INTERVAL).await;
    }
}

fn output_is_closed() -> bool {
    has_event(&io::stdout(), PollFlags::empty(), PollFlags::HUP | PollFlags::ERR)
}

/// Returns whether the client closed its end of standard input, even if some of it is unread.
fn input_has_ended() -> bool {
    let ended = PollFlags::HUP | PollFlags::RDHUP | PollFlags::ERR | PollFlags::NVAL;
    has_event(&io::stdin(), PollFlags::RDHUP, ended)
}

/// Returns whether one of the `awaited` events has come; errors and hang-ups come unasked.
fn has_event(stream: &impl AsFd, asked: PollFlags, awaited: PollFlags) -> bool {
    let mut polled = [PollFd::new(stream, asked)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let has_events = poll(&mut polled, Some(&now)).is_ok_and(|count| count > 0);
    has_events && polled.iter().any(|polled| polled.revents().intersects(awaited))
}
