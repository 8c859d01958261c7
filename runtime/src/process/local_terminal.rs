//! A program in a terminal of this machine.

use std::fmt;
use std::fs::File;
use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use relay_keeper::{Ended, Reach, Running, Signal, Size};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use tokio::io::{AsyncRead, AsyncWriteExt as _, ReadBuf};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::Mutex;

use super::output::without_waiting;
use super::screen::Screen;
use super::terminal::{Doing, End, Kind, SignalError, Terminal};

/// The bytes of one read: a terminal gives at most a page.
const BLOCK_BYTES: usize = 4 << 10;
/// The most blocks that are read at a time.
const READS_MAX: usize = 16;
/// The most blocks that are read after the end of a program: processes that it left may write on.
const REST_BLOCKS_MAX: usize = 256;
/// The time between the first signal and KILL when a session is ended.
const GRACE: Duration = Duration::from_secs(2);

/// A program in a terminal of this machine.
pub(crate) struct LocalTerminal {
    running: Running,
    master: OwnedFd,
    reading: Mutex<Reading>,
    writer: Mutex<Sender>,
}

/// The receiving end.
struct Reading {
    /// Absent once no program has the terminal open.
    reader: Option<Receiver>,
    exit: Pin<Box<dyn Future<Output = Ended> + Send>>,
    block: Vec<u8>,
}

impl LocalTerminal {
    /// Takes a running program with a terminal.
    ///
    /// # Errors
    ///
    /// The program has no terminal, or the system has no room for it.
    pub(crate) fn new(mut running: Running) -> io::Result<Self> {
        let master = running.terminal.take().ok_or(io::ErrorKind::NotFound)?;
        let master = without_waiting(master)?;
        let reader = Receiver::from_file_unchecked(File::from(master.try_clone()?))?;
        let writer = Sender::from_file_unchecked(File::from(master.try_clone()?))?;
        let exit = Box::pin(running.exit());
        let reading = Reading { reader: Some(reader), exit, block: vec![0; BLOCK_BYTES] };
        Ok(Self { running, master, reading: Mutex::new(reading), writer: Mutex::new(writer) })
    }

    /// Reads the output that the program wrote before its end.
    fn take_rest(&self, screen: &Screen, block: &mut [u8]) {
        for _ in 0..REST_BLOCKS_MAX {
            match rustix::io::read(&self.master, &mut *block) {
                Ok(length @ 1..) => screen.add(block.get(..length).unwrap_or_default()),
                Ok(0) | Err(_) => return,
            }
        }
    }
}

/// Reads the waiting output, at most [`READS_MAX`] times, so that the times of the session are kept too;
/// returns whether the terminal is still open.
fn poll_output(
    context: &mut Context<'_>,
    reader: &mut Receiver,
    block: &mut [u8],
    screen: &Screen,
) -> Poll<bool> {
    for reads in 0..READS_MAX {
        let mut read = ReadBuf::new(block);
        match Pin::new(&mut *reader).poll_read(context, &mut read) {
            Poll::Pending if reads == 0 => return Poll::Pending,
            Poll::Pending => break,
            Poll::Ready(Ok(())) if !read.filled().is_empty() => screen.add(read.filled()),
            // A terminal that no program has open fails (EIO).
            Poll::Ready(_) => return Poll::Ready(false),
        }
    }
    Poll::Ready(true)
}

impl Terminal for LocalTerminal {
    fn kind(&self) -> Kind {
        Kind::Local
    }

    fn next<'a>(&'a self, screen: &'a Screen) -> Doing<'a, Option<End>> {
        Box::pin(async move {
            let Reading { reader, exit, block } = &mut *self.reading.lock().await;
            let Some(open) = reader else {
                let ended = exit.await;
                self.take_rest(screen, block);
                return Some(end(ended));
            };
            tokio::select! {
                is_open = poll_fn(|context| poll_output(context, open, block, screen)) => {
                    if !is_open {
                        *reader = None;
                    }
                    None
                }
                ended = exit => {
                    self.take_rest(screen, block);
                    Some(end(ended))
                }
            }
        })
    }

    fn write<'a>(&'a self, text: &'a str) -> Doing<'a, io::Result<()>> {
        Box::pin(async move { self.writer.lock().await.write_all(text.as_bytes()).await })
    }

    fn resize(&self, size: Size) -> Doing<'_, io::Result<()>> {
        let Size { columns, rows } = size;
        let window = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
        Box::pin(async move { Ok(tcsetwinsize(&self.master, window)?) })
    }

    fn signal(&self, signal: Signal) -> Doing<'_, Result<(), SignalError>> {
        Box::pin(async move {
            let signalled = self.running.signal(signal, Reach::Session).await;
            signalled.map(|_| ()).map_err(|_| SignalError::Ended)
        })
    }

    fn end(&self) -> Doing<'_, bool> {
        Box::pin(async move {
            let ended = self.running.end(GRACE).await;
            if let Err(error) = &ended {
                tracing::warn!("a session did not end: {error}");
            }
            ended.is_ok()
        })
    }

    fn hides_input(&self) -> bool {
        tcgetattr(&self.master).is_ok_and(|modes| {
            modes.local_modes.contains(LocalModes::ICANON)
                && !modes.local_modes.contains(LocalModes::ECHO)
        })
    }
}

fn end(ended: Ended) -> End {
    match ended {
        Ended::Code(code) => End::Exited(code),
        Ended::Signal(signal) => End::Exited(-signal),
        Ended::Lost => End::Unknown("the server lost its processes"),
    }
}

impl fmt::Debug for LocalTerminal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("LocalTerminal").field("running", &self.running).finish_non_exhaustive()
    }
}
