//! A program in a terminal on a host.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use russh::{ChannelMsg, Sig};
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::channel::{Reader, Writer};
use crate::exec::{End, signal_text};

/// The output in bytes that waits for its reader. Beyond it, the oldest is dropped and counted: an unread
/// channel would stop every other channel of its connection.
pub const TERMINAL_BYTES_MAX: usize = 1024 * 1024;

/// The longest time for one message to enter the connection.
const SEND_MAX: Duration = Duration::from_secs(5);

/// The time between SIGTERM and SIGKILL, and between SIGKILL and the close.
const GRACE: Duration = Duration::from_secs(2);

/// A terminal to open.
#[derive(Clone)]
pub struct TerminalRequest {
    /// The command, or the login shell.
    pub command: Option<Vec<u8>>,
    /// The value of `TERM`.
    pub name: String,
    /// The width in characters.
    pub columns: u16,
    /// The height in characters.
    pub rows: u16,
}

/// An open terminal. Dropping it closes the channel, which hangs up the terminal.
pub struct Terminal {
    writer: Arc<Writer>,
    shared: Arc<Shared>,
    /// Keeps the parts of two inputs from mixing.
    sending: tokio::sync::Mutex<()>,
    pump: AbortHandle,
}

/// A piece of output.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Chunk {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The bytes before these that were dropped unread.
    pub dropped: u64,
}

/// The reason why an input, size or signal failed to reach the program.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TerminalError {
    /// The host refused the terminal or the command.
    #[error("the host refuses the terminal or the command")]
    Refused,
    /// The program has ended, or the connection is lost.
    #[error("the terminal has ended")]
    Ended,
    /// The program ignores its input. A part of it may have been taken.
    #[error("the program takes no input: a part of it may have been taken")]
    Blocked,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// For one reader.
    output: Notify,
    ended: Notify,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<u8>,
    dropped: u64,
    status: Option<End>,
    end: Option<End>,
}

/// Opens a terminal on a channel and starts the program.
pub(crate) async fn open(
    channel: (Reader, Arc<Writer>),
    request: TerminalRequest,
    answer: Duration,
) -> Result<Terminal, TerminalError> {
    let (mut reader, writer) = channel;
    let shared = Arc::new(Shared::default());
    let begun = timeout(answer, begin(&mut reader, &writer, request, &shared)).await;
    begun.map_err(|_| TerminalError::Ended)??;
    let pumped = Arc::clone(&shared);
    let pump = tokio::spawn(async move {
        loop {
            let message = reader.next().await;
            if pumped.take(message) {
                return;
            }
        }
    });
    Ok(Terminal {
        writer,
        shared,
        sending: tokio::sync::Mutex::default(),
        pump: pump.abort_handle(),
    })
}

async fn begin(
    reader: &mut Reader,
    writer: &Writer,
    request: TerminalRequest,
    shared: &Shared,
) -> Result<(), TerminalError> {
    let TerminalRequest { command, name, columns, rows } = request;
    let ended = |_| TerminalError::Ended;
    writer.terminal(&name, columns.into(), rows.into()).await.map_err(ended)?;
    // The command follows the grant: where the terminal is refused, it would run all the same.
    granted(reader, shared).await?;
    match command {
        Some(text) => writer.exec(&text).await.map_err(ended)?,
        None => writer.shell().await.map_err(ended)?,
    }
    granted(reader, shared).await
}

/// Waits for the answer to a request.
async fn granted(reader: &mut Reader, shared: &Shared) -> Result<(), TerminalError> {
    loop {
        match reader.next().await {
            Some(ChannelMsg::Success) => return Ok(()),
            Some(ChannelMsg::Failure) => return Err(TerminalError::Refused),
            message => {
                if shared.take(message) {
                    return Err(TerminalError::Ended);
                }
            }
        }
    }
}

impl Terminal {
    /// Returns the output since the last call, or waits for some. `None`: the terminal has
    /// ended and everything is read.
    pub async fn read(&self) -> Option<Chunk> {
        loop {
            {
                let mut state = self.shared.lock();
                if !state.waiting.is_empty() || state.dropped > 0 {
                    let bytes = std::mem::take(&mut state.waiting).into();
                    return Some(Chunk { bytes, dropped: std::mem::take(&mut state.dropped) });
                }
                if state.end.is_some() {
                    return None;
                }
            }
            self.shared.output.notified().await;
        }
    }

    /// Types bytes.
    ///
    /// # Errors
    ///
    /// The program has ended, or ignores its input for 5 s.
    pub async fn write(&self, bytes: Vec<u8>) -> Result<(), TerminalError> {
        let sending = async {
            let _turn = self.sending.lock().await;
            tokio::select! {
                sent = self.writer.send(bytes) => sent.map_err(|_| TerminalError::Ended),
                _ = self.ended() => Err(TerminalError::Ended),
            }
        };
        timeout(SEND_MAX, sending).await.unwrap_or(Err(TerminalError::Blocked))
    }

    /// Changes the size. The program gets SIGWINCH.
    ///
    /// # Errors
    ///
    /// The terminal has ended, or the connection is blocked.
    pub async fn resize(&self, columns: u16, rows: u16) -> Result<(), TerminalError> {
        self.sent(self.writer.resize(columns.into(), rows.into())).await
    }

    /// Sends a signal to the program, such as `INT`. The host leaves it unanswered; OpenSSH refuses
    /// signals where root logs in.
    ///
    /// # Errors
    ///
    /// The terminal has ended, or the connection is blocked.
    pub async fn signal(&self, name: &str) -> Result<(), TerminalError> {
        self.sent(self.writer.signal(signal_named(name))).await
    }

    /// Waits for the end and returns it.
    pub async fn ended(&self) -> End {
        loop {
            let ended = self.shared.ended.notified();
            let mut ended = std::pin::pin!(ended);
            ended.as_mut().enable();
            if let Some(end) = self.end() {
                return end;
            }
            ended.await;
        }
    }

    /// Returns the end, if the terminal has ended.
    pub fn end(&self) -> Option<End> {
        self.shared.lock().end.clone()
    }

    /// Ends the program: SIGTERM, after 2 s SIGKILL, then the close, which hangs up the terminal. Takes at
    /// most 6 s on a connection that takes messages.
    ///
    /// Returns the end that the host reported, or `None` where it was silent: the program may still
    /// run.
    pub async fn kill(&self) -> Option<End> {
        for signal in [Sig::TERM, Sig::KILL] {
            // An ended terminal is seen below.
            let _ = self.sent(self.writer.signal(signal)).await;
            if let Ok(end) = timeout(GRACE, self.ended()).await {
                return Some(end).filter(|end| *end != End::Lost);
            }
        }
        let _ = self.sent(self.writer.close()).await;
        if timeout(GRACE, self.ended()).await.is_err() {
            self.shared.finish(End::NoStatus);
        }
        None
    }

    async fn sent(
        &self,
        sending: impl Future<Output = Result<(), crate::channel::Gone>>,
    ) -> Result<(), TerminalError> {
        match timeout(SEND_MAX, sending).await {
            Ok(sent) => sent.map_err(|_| TerminalError::Ended),
            Err(_) => Err(TerminalError::Blocked),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.pump.abort();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a message. True: it is the last.
    fn take(&self, message: Option<ChannelMsg>) -> bool {
        let mut state = self.lock();
        let last = match message {
            Some(ChannelMsg::Data { data } | ChannelMsg::ExtendedData { data, .. }) => {
                state.push(&data);
                None
            }
            Some(ChannelMsg::ExitStatus { exit_status }) => {
                state.status = Some(End::Exited(exit_status));
                None
            }
            Some(ChannelMsg::ExitSignal { signal_name, .. }) => {
                state.status = Some(End::Signalled(signal_text(&signal_name)));
                None
            }
            Some(ChannelMsg::Close) => Some(End::NoStatus),
            None => Some(End::Lost),
            Some(_) => None,
        };
        drop(state);
        let is_last = last.is_some();
        match last {
            Some(without_status) => self.finish(without_status),
            None => self.output.notify_one(),
        }
        is_last
    }

    /// Ends the terminal: by the status that the host reported, or like this.
    fn finish(&self, without_status: End) {
        {
            let mut state = self.lock();
            let end = state.status.take().unwrap_or(without_status);
            state.end.get_or_insert(end);
        }
        self.output.notify_one();
        self.ended.notify_waiters();
    }
}

impl State {
    fn push(&mut self, bytes: &[u8]) {
        self.waiting.extend(bytes);
        let surplus = self.waiting.len().saturating_sub(TERMINAL_BYTES_MAX);
        self.waiting.drain(..surplus);
        self.dropped = self.dropped.saturating_add(surplus as u64);
    }
}

fn signal_named(name: &str) -> Sig {
    match name {
        "ABRT" => Sig::ABRT,
        "ALRM" => Sig::ALRM,
        "FPE" => Sig::FPE,
        "HUP" => Sig::HUP,
        "ILL" => Sig::ILL,
        "INT" => Sig::INT,
        "KILL" => Sig::KILL,
        "PIPE" => Sig::PIPE,
        "QUIT" => Sig::QUIT,
        "SEGV" => Sig::SEGV,
        "TERM" => Sig::TERM,
        "USR1" => Sig::USR1,
        other => Sig::Custom(other.to_owned()),
    }
}
