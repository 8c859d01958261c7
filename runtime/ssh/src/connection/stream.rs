//! The bytes below an SSH connection, with a switch that ends it.
//!
//! russh starts a task for each connection, which outlives a connect that is given up and knows no limit
//! for a blocked write. This stream ends such a task with an error.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use russh::ChannelStream;
use russh::client::Msg;
use rustix::net::sockopt;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

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
    cut: Pin<Box<WaitForCancellationFutureOwned>>,
    heard: Arc<AtomicBool>,
    /// The longest time that a write makes no progress.
    patience: Duration,
    /// Set while a write waits.
    blocked: Option<Pin<Box<Sleep>>>,
}

/// Ends a [`Stream`], and says whether the peer ever spoke.
#[derive(Clone, Debug, Default)]
pub(super) struct Switch {
    cut: CancellationToken,
    heard: Arc<AtomicBool>,
}

impl Switch {
    /// Ends the stream at once. What is unsent is lost.
    pub(super) fn cut(&self) {
        self.cut.cancel();
    }

    /// Returns whether the peer sent at least one byte.
    pub(super) fn heard(&self) -> bool {
        self.heard.load(Ordering::Relaxed)
    }
}

impl Stream {
    pub(super) fn new(carrier: Carrier, switch: &Switch, patience: Duration) -> Self {
        let stream = Self {
            carrier,
            cut: Box::pin(switch.cut.clone().cancelled_owned()),
            heard: Arc::clone(&switch.heard),
            patience,
            blocked: None,
        };
        stream.acknowledge();
        stream
    }

    /// Sends TCP acknowledgements without delay: a server with Nagle's algorithm waits for them, about
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

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(cx)?;
        let before = buffer.filled().len();
        let read = match &mut self.carrier {
            Carrier::Socket(socket) => Pin::new(socket).poll_read(cx, buffer),
            Carrier::Channel(channel) => Pin::new(channel).poll_read(cx, buffer),
        };
        ready!(read)?;
        if buffer.filled().len() > before {
            self.heard.store(true, Ordering::Relaxed);
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
        // The end of a cut connection waits for no peer: dropping the carrier closes it.
        if self.check(cx).is_err() {
            return Poll::Ready(Ok(()));
        }
        match &mut self.carrier {
            Carrier::Socket(socket) => Pin::new(socket).poll_shutdown(cx),
            Carrier::Channel(channel) => Pin::new(channel).poll_shutdown(cx),
        }
    }
}
