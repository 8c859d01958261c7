//! One session: a program in a terminal, its output since the last call, and how it ends.

use std::fs::File;
use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use relay_engine::tool::{INTERRUPT, gone_on, pending_after};
use relay_keeper::{Ended, Reach, Running, Signal, Size};
use relay_machine::lock::lock;
use relay_policy::location::Location;
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use serde_json::{Map, Value};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWriteExt as _, ReadBuf};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::time::{Instant, sleep_until, timeout};

use super::buffer::{Buffer, Counts};
use super::last_line::LastLine;
use super::output::without_waiting;
use crate::caller::principal::Principal;

/// The bytes of one read: a terminal gives at most a page.
const BLOCK_BYTES: usize = 4 << 10;
/// The most blocks that are read at a time.
const READS_MAX: usize = 16;
/// The most blocks that are read after the end of a program: processes that it left may write on.
const REST_BLOCKS_MAX: usize = 256;
/// The longest time that a program may leave typed text unread.
const WRITE_MAX: Duration = Duration::from_secs(5);
/// The time between the first signal and KILL when a session is ended.
const GRACE: Duration = Duration::from_secs(2);
/// The longest time in which more output joins the first of a call.
const GATHER_MAX: Duration = Duration::from_millis(20);
/// The silence after output by which a call has gathered enough: a shell echoes a command, and answers it a
/// few milliseconds later.
const GATHER_QUIET: Duration = Duration::from_millis(8);
/// The time that a program has after an interrupt before more is typed: until its next prompt, a shell
/// drops an unknown part of it.
const SETTLE: Duration = Duration::from_millis(300);
/// The most bytes of a typed line: a terminal drops the rest of a longer one, so the program would read
/// another line than the one that was decided (`N_TTY_BUF_SIZE` of Linux).
const LINE_BYTES_MAX: usize = 4095;

/// A session of one caller.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) owner: Arc<Principal>,
    /// The call that began it.
    pub(crate) origin: Origin,
    begun: Instant,
    running: Running,
    master: OwnedFd,
    writer: AsyncMutex<Sender>,
    state: Mutex<State>,
    /// Notified of output, and of the end.
    changed: Notify,
}

#[derive(Debug)]
struct State {
    buffer: Buffer,
    size: Size,
    ended: Option<Ended>,
    /// When a call last used it.
    used: Instant,
    /// The typed text since the last line end.
    pending: String,
    /// Whether a text was typed only in part, so that the line in the terminal is unknown.
    is_torn: bool,
    /// When a program that was interrupted takes text again.
    settled_at: Instant,
    last_line: LastLine,
}

/// Why a text is not typed. The texts are for the caller.
#[derive(Debug, Error)]
pub(crate) enum Unsent {
    #[error("the line of the terminal changed while this was decided: send it again")]
    Changed,
    #[error(
        "a line has more than {LINE_BYTES_MAX} bytes, of which a terminal drops the rest: send shorter lines"
    )]
    TooLong,
    #[error(
        "the program leaves what is typed unread, so a part of it may be in its line: end the session"
    )]
    Unread,
    #[error("an earlier text was typed only in part, so the line is unknown: end the session")]
    Torn,
    #[error(transparent)]
    Failed(#[from] io::Error),
}

impl State {
    /// Adds output.
    fn add(&mut self, bytes: &[u8]) {
        self.buffer.add(bytes);
        self.last_line.add(bytes);
    }
}

/// The call that began a session: a new bundle is asked about it again.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) arguments: Map<String, Value>,
    pub(crate) location: Location,
}

/// A program in a terminal that becomes a session.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) title: String,
    pub(crate) running: Running,
    pub(crate) size: Size,
    pub(crate) origin: Origin,
}

/// When a session ends by itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends {
    pub(crate) idle: Duration,
    pub(crate) lifetime: Duration,
}

/// A session, as `session_list` shows it.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) size: Size,
    pub(crate) age: Duration,
    pub(crate) idle: Duration,
    pub(crate) counts: Counts,
    pub(crate) ended: Option<Ended>,
}

/// The output of a session for one call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// Output; empty if none came in time.
    Output(String),
    /// All was received before, and the program has ended.
    End(Ended),
}

impl Session {
    /// Takes a running program with a terminal, and reads it until it ends.
    pub(super) fn begin(
        id: String,
        owner: Arc<Principal>,
        program: Program,
        ends: Ends,
    ) -> io::Result<Arc<Self>> {
        let Program { title, mut running, size, origin } = program;
        let master = running.terminal.take().ok_or(io::ErrorKind::NotFound)?;
        let master = without_waiting(master)?;
        let reader = Receiver::from_file_unchecked(File::from(master.try_clone()?))?;
        let writer = Sender::from_file_unchecked(File::from(master.try_clone()?))?;
        let now = Instant::now();
        let exit = running.exit();
        let state = State {
            buffer: Buffer::default(),
            size,
            ended: None,
            used: now,
            pending: String::new(),
            settled_at: now,
            is_torn: false,
            last_line: LastLine::default(),
        };
        let session = Arc::new(Self {
            id,
            title,
            owner,
            origin,
            begun: now,
            running,
            master,
            writer: AsyncMutex::new(writer),
            state: Mutex::new(state),
            changed: Notify::new(),
        });
        tokio::spawn(session.clone().keep(reader, exit, ends));
        Ok(session)
    }

    /// Reads the terminal until the program has ended, and ends it when its time is over.
    async fn keep(
        self: Arc<Self>,
        reader: Receiver,
        exit: impl Future<Output = Ended>,
        ends: Ends,
    ) {
        let mut reader = Some(reader);
        let mut exit = std::pin::pin!(exit);
        let mut block = vec![0; BLOCK_BYTES];
        let mut is_ending = false;
        loop {
            let over = (self.begun + ends.lifetime).min(lock(&self.state).used + ends.idle);
            tokio::select! {
                open = poll_fn(|context| self.poll(context, &mut reader, &mut block)), if reader.is_some() => {
                    if !open {
                        reader = None;
                    }
                }
                ended = &mut exit => {
                    self.take_rest(&mut block);
                    lock(&self.state).ended = Some(ended);
                    self.changed.notify_waiters();
                    return;
                }
                () = sleep_until(over), if !is_ending => {
                    let now = Instant::now();
                    let used = lock(&self.state).used;
                    if now >= self.begun + ends.lifetime || now >= used + ends.idle {
                        is_ending = true;
                        let session = self.clone();
                        tokio::spawn(async move { session.end().await });
                    }
                }
            }
        }
    }

    /// Reads the output that the program wrote before its end.
    fn take_rest(&self, block: &mut [u8]) {
        for _ in 0..REST_BLOCKS_MAX {
            match rustix::io::read(&self.master, &mut *block) {
                Ok(length @ 1..) => {
                    lock(&self.state).add(block.get(..length).unwrap_or_default());
                }
                Ok(0) | Err(_) => return,
            }
        }
    }

    /// Reads the waiting output, at most [`READS_MAX`] times, so that the times of the session are kept too;
    /// returns whether the terminal is still open.
    fn poll(
        &self,
        context: &mut Context<'_>,
        reader: &mut Option<Receiver>,
        block: &mut [u8],
    ) -> Poll<bool> {
        let Some(reader) = reader else { return Poll::Ready(false) };
        let mut is_open = true;
        for reads in 0..READS_MAX {
            let mut read = ReadBuf::new(block);
            match Pin::new(&mut *reader).poll_read(context, &mut read) {
                Poll::Pending if reads == 0 => return Poll::Pending,
                Poll::Pending => break,
                Poll::Ready(Ok(())) if !read.filled().is_empty() => {
                    lock(&self.state).add(read.filled());
                }
                // A terminal that no program has open fails (EIO).
                Poll::Ready(_) => {
                    is_open = false;
                    break;
                }
            }
        }
        self.changed.notify_waiters();
        Poll::Ready(is_open)
    }

    /// Returns the line that the next text goes on with.
    pub(crate) fn pending(&self) -> String {
        lock(&self.state).pending.clone()
    }

    /// Returns whether the program asks for a secret: its terminal takes a line without showing it, or
    /// the last line of its output looks like a question for a password.
    pub(crate) fn asks_for_secret(&self) -> bool {
        let hides = tcgetattr(&self.master).is_ok_and(|modes| {
            modes.local_modes.contains(LocalModes::ICANON)
                && !modes.local_modes.contains(LocalModes::ECHO)
        });
        hides || lock(&self.state).last_line.asks_for_secret()
    }

    /// Types a text that goes on with the line `pending`, as it was decided.
    pub(crate) async fn send(&self, text: &str, pending: &str) -> Result<(), Unsent> {
        // Held until the text is typed, so that a line has the order in which its parts were decided.
        let mut writer = self.writer.lock().await;
        {
            let mut state = lock(&self.state);
            state.used = Instant::now();
            if state.is_torn {
                return Err(Unsent::Torn);
            }
            if state.pending != pending {
                return Err(Unsent::Changed);
            }
            let typed = gone_on(pending, text);
            if typed.split(['\n', '\r']).any(|line| line.len() > LINE_BYTES_MAX) {
                return Err(Unsent::TooLong);
            }
            state.pending = pending_after(pending, text);
            // Until all of it is typed, the line in the terminal is another one.
            state.is_torn = true;
        }
        let settled_at = lock(&self.state).settled_at;
        sleep_until(settled_at).await;
        let written = timeout(WRITE_MAX, writer.write_all(text.as_bytes())).await;
        written.map_err(|_| Unsent::Unread)??;
        let mut state = lock(&self.state);
        state.is_torn = false;
        if text.contains(INTERRUPT) {
            state.settled_at = Instant::now() + SETTLE;
        }
        Ok(())
    }

    /// Returns the output since the last call, at most `bytes_max` bytes of it; waits for some.
    pub(crate) async fn receive(&self, wait: Duration, bytes_max: usize) -> Received {
        let until = Instant::now() + wait;
        loop {
            let changed = self.changed.notified();
            {
                let mut state = lock(&self.state);
                state.used = Instant::now();
                let ended = state.ended;
                match (state.buffer.is_empty(), ended) {
                    (false, Some(_)) => {
                        return Received::Output(state.buffer.take(bytes_max, true));
                    }
                    (false, None) => break,
                    (true, Some(ended)) => return Received::End(ended),
                    (true, None) => {}
                }
            }
            tokio::select! {
                () = changed => {}
                () = sleep_until(until) => return Received::Output(String::new()),
            }
        }
        self.gather(until, bytes_max).await;
        let mut state = lock(&self.state);
        let is_complete = state.ended.is_some();
        Received::Output(state.buffer.take(bytes_max, is_complete))
    }

    /// Waits while output comes, until a call has all that it may get or the program has ended.
    async fn gather(&self, until: Instant, bytes_max: usize) {
        let until = until.min(Instant::now() + GATHER_MAX);
        loop {
            let changed = self.changed.notified();
            {
                let state = lock(&self.state);
                if state.ended.is_some() || state.buffer.counts().buffered >= bytes_max {
                    return;
                }
            }
            let quiet_at = Instant::now() + GATHER_QUIET;
            tokio::select! {
                () = changed => {}
                () = sleep_until(quiet_at.min(until)) => return,
            }
        }
    }

    /// Changes the size of the terminal.
    pub(crate) fn resize(&self, size: Size) -> io::Result<()> {
        let Size { columns, rows } = size;
        let window = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.master, window)?;
        let mut state = lock(&self.state);
        (state.size, state.used) = (size, Instant::now());
        Ok(())
    }

    /// Signals all jobs of the session.
    pub(crate) async fn signal(&self, signal: Signal) -> io::Result<()> {
        lock(&self.state).used = Instant::now();
        let signalled = self.running.signal(signal, Reach::Session).await.map(|_| ());
        lock(&self.state).settled_at = Instant::now() + SETTLE;
        signalled
    }

    /// Ends all processes of the session.
    pub(crate) async fn end(&self) {
        if let Err(error) = self.running.end(GRACE).await {
            tracing::warn!("a session did not end: {error}");
        }
    }

    /// Returns its state.
    pub(crate) fn shown(&self) -> Shown {
        let state = lock(&self.state);
        let now = Instant::now();
        Shown {
            size: state.size,
            age: now - self.begun,
            idle: now - state.used,
            counts: state.buffer.counts(),
            ended: state.ended,
        }
    }

    /// Returns the time since the last call about it, if it has ended.
    pub(super) fn ended_for(&self) -> Option<Duration> {
        let state = lock(&self.state);
        state.ended.map(|_| state.used.elapsed())
    }
}
