//! One session: a program in a terminal, its output since the last call, and how it ends.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use relay_engine::tool::{INTERRUPT, gone_on, pending_after};
use relay_keeper::{Signal, Size};
use relay_machine::lock::lock;
use relay_policy::location::Location;
use serde_json::{Map, Value};
use thiserror::Error;
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::time::{Instant, sleep_until, timeout};

use super::buffer::Counts;
use super::screen::Screen;
use super::terminal::{End, Kind, SignalError, Terminal};
use crate::caller::principal::Principal;

/// The longest time that a program may leave typed text unread.
const WRITE_MAX: Duration = Duration::from_secs(5);
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
    terminal: Box<dyn Terminal>,
    /// Held while a text is typed.
    typing: AsyncMutex<()>,
    screen: Screen,
    state: Mutex<State>,
    /// Notified of output, and of the end.
    changed: Notify,
}

#[derive(Debug)]
struct State {
    size: Size,
    /// Set after the last output.
    ended: Option<End>,
    /// When a call last used it.
    used: Instant,
    /// The typed text since the last line end.
    pending: String,
    /// Whether a text was typed only in part, so that the line in the terminal is unknown.
    is_torn: bool,
    /// When a program that was interrupted takes text again.
    settled_at: Instant,
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

/// The call that began a session: a new bundle is asked about it again.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub(crate) tool: &'static str,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) location: Location,
    /// Whether a person approved it.
    pub(crate) is_approved: bool,
}

/// A program in a terminal that becomes a session.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) title: String,
    pub(crate) terminal: Box<dyn Terminal>,
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
    pub(crate) ended: Option<End>,
}

/// The output of a session for one call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// Output; empty if none came in time.
    Output(String),
    /// All was received before, and the program has ended.
    End(End),
}

impl Session {
    /// Takes a program in a terminal, and reads it until it ends.
    pub(super) fn begin(
        id: String,
        owner: Arc<Principal>,
        program: Program,
        ends: Ends,
    ) -> Arc<Self> {
        let Program { title, terminal, size, origin } = program;
        let now = Instant::now();
        let state = State {
            size,
            ended: None,
            used: now,
            pending: String::new(),
            settled_at: now,
            is_torn: false,
        };
        let session = Arc::new(Self {
            id,
            title,
            owner,
            origin,
            begun: now,
            terminal,
            typing: AsyncMutex::default(),
            screen: Screen::default(),
            state: Mutex::new(state),
            changed: Notify::new(),
        });
        tokio::spawn(session.clone().keep(ends));
        session
    }

    /// Reads the terminal until the program has ended, and ends it when its time is over.
    async fn keep(self: Arc<Self>, ends: Ends) {
        let mut is_ending = false;
        loop {
            let over = (self.begun + ends.lifetime).min(lock(&self.state).used + ends.idle);
            tokio::select! {
                ended = self.terminal.next(&self.screen) => {
                    if ended.is_some() {
                        lock(&self.state).ended = ended;
                    }
                    self.changed.notify_waiters();
                    if ended.is_some() {
                        return;
                    }
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

    /// Returns where its program runs.
    pub(crate) fn kind(&self) -> Kind {
        self.terminal.kind()
    }

    /// Returns the line that the next text goes on with.
    pub(crate) fn pending(&self) -> String {
        lock(&self.state).pending.clone()
    }

    /// Returns whether the program asks for a secret: its terminal takes a line without showing it, or
    /// the last line of its output looks like a question for a password.
    pub(crate) fn asks_for_secret(&self) -> bool {
        self.terminal.hides_input() || self.screen.asks_for_secret()
    }

    /// Types a text that goes on with the line `pending`, as it was decided.
    pub(crate) async fn send(&self, text: &str, pending: &str) -> Result<(), Unsent> {
        // Held until the text is typed, so that a line has the order in which its parts were decided.
        let _turn = self.typing.lock().await;
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
        let written = timeout(WRITE_MAX, self.terminal.write(text)).await;
        match written {
            Ok(Err(error)) if error.kind() != io::ErrorKind::TimedOut => return Err(error.into()),
            Ok(Err(_)) | Err(_) => return Err(Unsent::Unread),
            Ok(Ok(())) => {}
        }
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
                // All output came before the end.
                let ended = state.ended;
                match (self.screen.counts().buffered, ended) {
                    (0, Some(ended)) => return Received::End(ended),
                    (0, None) => {}
                    (_, Some(_)) => return Received::Output(self.screen.take(bytes_max, true)),
                    (_, None) => break,
                }
            }
            tokio::select! {
                () = changed => {}
                () = sleep_until(until) => return Received::Output(String::new()),
            }
        }
        self.gather(until, bytes_max).await;
        let is_complete = lock(&self.state).ended.is_some();
        Received::Output(self.screen.take(bytes_max, is_complete))
    }

    /// Waits while output comes, until a call has all that it may get or the program has ended.
    async fn gather(&self, until: Instant, bytes_max: usize) {
        let until = until.min(Instant::now() + GATHER_MAX);
        loop {
            let changed = self.changed.notified();
            let has_ended = lock(&self.state).ended.is_some();
            if has_ended || self.screen.counts().buffered >= bytes_max {
                return;
            }
            let quiet_at = Instant::now() + GATHER_QUIET;
            tokio::select! {
                () = changed => {}
                () = sleep_until(quiet_at.min(until)) => return,
            }
        }
    }

    /// Changes the size of the terminal.
    pub(crate) async fn resize(&self, size: Size) -> io::Result<()> {
        self.terminal.resize(size).await?;
        let mut state = lock(&self.state);
        (state.size, state.used) = (size, Instant::now());
        Ok(())
    }

    /// Signals all jobs of the session.
    pub(crate) async fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        lock(&self.state).used = Instant::now();
        let signalled = self.terminal.signal(signal).await;
        lock(&self.state).settled_at = Instant::now() + SETTLE;
        signalled
    }

    /// Ends all processes of the session; returns whether they surely ended.
    pub(crate) async fn end(&self) -> bool {
        self.terminal.end().await
    }

    /// Returns its state.
    pub(crate) fn shown(&self) -> Shown {
        let state = lock(&self.state);
        let now = Instant::now();
        Shown {
            size: state.size,
            age: now - self.begun,
            idle: now - state.used,
            counts: self.screen.counts(),
            ended: state.ended,
        }
    }

    /// Returns the time since the last call about it, if it has ended.
    pub(super) fn ended_for(&self) -> Option<Duration> {
        let state = lock(&self.state);
        state.ended.map(|_| state.used.elapsed())
    }
}
