//! The bytes below an SSH connection, with a switch that ends it.
//!
//! russh starts a task for each connection, which outlives a connect that is given up and waits forever
//! for a blocked write. This stream ends such a task with an error.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use russh::ChannelStream;
use russh::client::Msg;
use rustix::net::sockopt;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// The most bytes that are read ahead while a write waits: more than the windows of all channels of the
/// inner connection together, so that its peer always finds a reader.
const AHEAD_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The bytes of one read ahead.
const AHEAD_BLOCK_BYTES: usize = 32 * 1024;

/// The first bytes of a peer that are kept. russh ends a connection with a longer greeting.
const GREETING_BYTES_MAX: usize = 4096;

/// The carrier of an SSH connection.
pub(super) enum Carrier {
    /// A socket.
    Socket(TcpStream),
    /// A channel of a jump host.
    Channel(Box<ChannelStream<Msg>>),
}

/// A [`Carrier`] that a [`Switch`] ends, and that a blocked write ends.
pub(super) struct Stream {
    carrier: Carrier,
    switch: Switch,
    cut: Pin<Box<WaitForCancellationFutureOwned>>,
    /// Whether the greeting is complete.
    begun: bool,
    /// The longest time that a write is blocked.
    patience: Duration,
    /// The bytes that were read while a write waited.
    ahead: VecDeque<u8>,
    /// Set while a write waits.
    blocked: Option<Pin<Box<Sleep>>>,
}

/// Ends a [`Stream`], and says how the peer began.
#[derive(Clone, Default)]
pub(super) struct Switch {
    cut: CancellationToken,
    greeting: Arc<Mutex<Greeting>>,
}

/// The first bytes of the peer, until it names its version of SSH.
#[derive(Default)]
struct Greeting {
    bytes: Vec<u8>,
    ssh: bool,
}

impl Switch {
    /// Ends the stream at once. Unsent bytes are lost.
    pub(super) fn cut(&self) {
        self.cut.cancel();
    }

    /// Returns whether the peer has begun to speak SSH.
    pub(super) fn heard(&self) -> bool {
        self.greeting.lock().unwrap_or_else(PoisonError::into_inner).ssh
    }

    /// Returns the first line of a peer that does something else than SSH. Servers give a reason there.
    pub(super) fn first_line(&self) -> Option<String> {
        let greeting = self.greeting.lock().unwrap_or_else(PoisonError::into_inner);
        let line = greeting.bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let text: String =
            String::from_utf8_lossy(line).chars().filter(|c| !c.is_control()).collect();
        Some(text).filter(|text| !text.is_empty())
    }
}

impl Greeting {
    fn take(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.ssh = self.bytes.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"SSH-"));
        if self.ssh {
            self.bytes = Vec::new();
        }
        self.bytes.truncate(GREETING_BYTES_MAX);
    }
}

impl Stream {
    pub(super) fn new(carrier: Carrier, switch: &Switch, patience: Duration) -> Self {
        let stream = Self {
            carrier,
            switch: switch.clone(),
            cut: Box::pin(switch.cut.clone().cancelled_owned()),
            begun: false,
            patience,
            ahead: VecDeque::new(),
            blocked: None,
        };
        stream.acknowledge();
        stream
    }

    /// Sends TCP acknowledgements at once: a server with Nagle's algorithm waits for them, about
    /// 40 ms at the first command. Linux forgets the setting, so it is renewed after each read.
    fn acknowledge(&self) {
        if let Carrier::Socket(socket) = &self.carrier {
            // A slower connection is the only effect of a failure.
            let _ = sockopt::set_tcp_quickack(socket, true);
        }
    }

    fn check(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        match self.cut.as_mut().poll(cx) {
            Poll::Ready(()) => Err(io::ErrorKind::ConnectionAborted.into()),
            Poll::Pending => Ok(()),
        }
    }
}

impl Stream {
    fn read_carrier(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.carrier {
            Carrier::Socket(socket) => Pin::new(socket).poll_read(cx, buffer),
            Carrier::Channel(channel) => Pin::new(channel).poll_read(cx, buffer),
        }
    }

    /// Reads what has come while a write waits.
    ///
    /// russh reads nothing until a write is done. Through a jump host, the write waits for a window that
    /// the connection to the jump host receives, and that connection waits for a reader of this channel.
    fn read_ahead(&mut self, cx: &mut Context<'_>) {
        if !self.begun {
            return;
        }
        let mut block = vec![0; AHEAD_BLOCK_BYTES];
        while self.ahead.len() < AHEAD_BYTES_MAX {
            let mut buffer = ReadBuf::new(&mut block);
            let read = self.read_carrier(cx, &mut buffer);
            // The end and errors come again at the next read.
            if !matches!(read, Poll::Ready(Ok(()))) || buffer.filled().is_empty() {
                return;
            }
            self.ahead.extend(buffer.filled());
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(cx)?;
        if !self.ahead.is_empty() {
            let (first, _) = self.ahead.as_slices();
            let (bytes, _) = first.split_at(first.len().min(buffer.remaining()));
            buffer.put_slice(bytes);
            let taken = bytes.len();
            self.ahead.drain(..taken);
            if self.ahead.is_empty() {
                self.ahead = VecDeque::new();
            }
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        ready!(self.read_carrier(cx, buffer))?;
        if !self.begun {
            let read = buffer.filled().get(before..).unwrap_or_default();
            let mut greeting = self.switch.greeting.lock().unwrap_or_else(PoisonError::into_inner);
            greeting.take(read);
            let begun = greeting.ssh;
            drop(greeting);
            self.begun = begun;
        }
        self.acknowledge();
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check(cx)?;
        let written = match &mut self.carrier {
            Carrier::Socket(socket) => Pin::new(socket).poll_write(cx, bytes),
            Carrier::Channel(channel) => Pin::new(channel).poll_write(cx, bytes),
        };
        if written.is_ready() {
            self.blocked = None;
            return written;
        }
        self.read_ahead(cx);
        let until = Instant::now() + self.patience;
        let blocked = self.blocked.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        ready!(blocked.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.carrier {
            Carrier::Socket(socket) => Pin::new(socket).poll_flush(cx),
            Carrier::Channel(channel) => Pin::new(channel).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A cut connection ends at once, when the carrier is dropped.
        if self.check(cx).is_err() {
            return Poll::Ready(Ok(()));
        }
        match &mut self.carrier {
            Carrier::Socket(socket) => Pin::new(socket).poll_shutdown(cx),
            Carrier::Channel(channel) => Pin::new(channel).poll_shutdown(cx),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Carrier::Socket(socket) = &self.carrier
            && self.switch.cut.is_cancelled()
        {
            // The system keeps unsent bytes of a closed socket and sends its end after them. A peer that
            // waits for its own reader would never hear of the end; a reset passes it by.
            let _ = socket.set_zero_linger();
        }
    }
}
