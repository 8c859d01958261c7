//! A session channel that is always closed.
//!
//! Two properties of russh make this necessary. Dropping its channel closes nothing, so a command would
//! run on and send on. And an unread channel stops the whole connection with all its channels: the owner
//! of a [`Reader`] reads it all the time or drops it.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use russh::client::Msg;
use russh::{Channel, ChannelMsg, ChannelReadHalf, ChannelStream, ChannelWriteHalf, Sig};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{Notify, OwnedSemaphorePermit};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard, WaitForCancellationFutureOwned};

use crate::connection::Connection;

/// The place of a channel on its connection, free again when it is dropped.
pub(crate) struct Slot {
    pub(crate) connection: Arc<Connection>,
    pub(crate) permit: Option<OwnedSemaphorePermit>,
    /// Wakes those who wait for a place.
    pub(crate) released: Arc<Notify>,
}

/// The receiving half of a channel.
pub(crate) struct Reader {
    half: ChannelReadHalf,
    writer: Arc<Writer>,
}

/// The sending half of a channel. Closes the channel when it is dropped.
pub(crate) struct Writer {
    half: Option<ChannelWriteHalf<Msg>>,
    closed: AtomicBool,
    slot: Mutex<Option<Slot>>,
}

/// The host, or the connection to it, has ended.
#[derive(Debug)]
pub(crate) struct Gone;

/// A channel as a stream of bytes, closed when it is dropped. Its owner reads it all the time.
pub(crate) struct Pipe {
    stream: ChannelStream<Msg>,
    slot: Slot,
    /// Ends both directions. They are polled by two tasks, and either may wait forever.
    cut: CancellationToken,
    reading: Pin<Box<WaitForCancellationFutureOwned>>,
    writing: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        // The place is free before a waiter looks for it.
        self.permit = None;
        self.released.notify_waiters();
    }
}

/// Takes charge of a channel.
pub(crate) fn guard(channel: Channel<Msg>, slot: Slot) -> (Reader, Arc<Writer>) {
    let (read, write) = channel.split();
    let slot = Mutex::new(Some(slot));
    let writer = Arc::new(Writer { half: Some(write), closed: AtomicBool::new(false), slot });
    (Reader { half: read, writer: Arc::clone(&writer) }, writer)
}

/// Asks for a subsystem and returns its stream. `None`: the host refuses it.
pub(crate) async fn subsystem(channel: Channel<Msg>, slot: Slot, name: &str) -> Option<Pipe> {
    let mut channel = channel;
    let answer = slot.connection.answer();
    let asked = timeout(answer, async {
        channel.request_subsystem(true, name).await.ok()?;
        loop {
            match channel.wait().await? {
                ChannelMsg::Success => return Some(()),
                ChannelMsg::Failure | ChannelMsg::Close => return None,
                _ => {}
            }
        }
    });
    if asked.await.ok().flatten().is_none() {
        slot.connection.abandon_channel();
        let _ = timeout(answer, channel.close()).await;
        return None;
    }
    let cut = CancellationToken::new();
    let (reading, writing) = (cut.clone().cancelled_owned(), cut.clone().cancelled_owned());
    let (reading, writing) = (Box::pin(reading), Box::pin(writing));
    Some(Pipe { stream: channel.into_stream(), slot, cut, reading, writing })
}

impl Pipe {
    /// Returns a guard that ends the pipe when it is dropped.
    pub(crate) fn end_on_drop(&self) -> DropGuard {
        self.cut.clone().drop_guard()
    }

    /// Returns the time that the host has for an answer.
    pub(crate) fn answer(&self) -> Duration {
        self.slot.connection.answer()
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.slot.connection.abandon_channel();
    }
}

impl AsyncRead for Pipe {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.reading.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.writing.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl Reader {
    /// Returns the next message, or `None` if the connection is lost or the channel was closed before.
    pub(crate) async fn next(&mut self) -> Option<ChannelMsg> {
        let message = self.half.wait().await;
        if matches!(message, None | Some(ChannelMsg::Close)) {
            self.writer.note_closed();
        }
        message
    }
}

impl Writer {
    /// Sends a command. It is sent once in any case.
    pub(crate) async fn exec(&self, text: &[u8]) -> Result<(), Gone> {
        self.half()?.exec(true, text).await.map_err(|_| Gone)
    }

    /// Asks for the login shell.
    pub(crate) async fn shell(&self) -> Result<(), Gone> {
        self.half()?.request_shell(true).await.map_err(|_| Gone)
    }

    /// Asks for a terminal.
    pub(crate) async fn terminal(&self, name: &str, columns: u32, rows: u32) -> Result<(), Gone> {
        self.half()?.request_pty(true, name, columns, rows, 0, 0, &[]).await.map_err(|_| Gone)
    }

    /// Changes the size of the terminal.
    pub(crate) async fn resize(&self, columns: u32, rows: u32) -> Result<(), Gone> {
        self.half()?.window_change(columns, rows, 0, 0).await.map_err(|_| Gone)
    }

    /// Sends input. Waits until the host takes it; forever if the host closes the channel meanwhile.
    pub(crate) async fn send(&self, bytes: Vec<u8>) -> Result<(), Gone> {
        self.half()?.data_bytes(bytes).await.map_err(|_| Gone)
    }

    /// Ends the input, for which programs wait that read it to its end.
    pub(crate) async fn end_input(&self) -> Result<(), Gone> {
        self.half()?.eof().await.map_err(|_| Gone)
    }

    /// Sends a signal, which the host leaves unanswered. OpenSSH refuses it where root logs in.
    pub(crate) async fn signal(&self, signal: Sig) -> Result<(), Gone> {
        self.half()?.signal(signal).await.map_err(|_| Gone)
    }

    /// Closes the channel. The host hangs up its terminal.
    pub(crate) async fn close(&self) -> Result<(), Gone> {
        self.half()?.close().await.map_err(|_| Gone)
    }

    /// Returns the key of the host in wire form while the channel is open.
    pub(crate) fn host_key(&self) -> Option<Vec<u8>> {
        let slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        slot.as_ref().map(|slot| slot.connection.host_key().to_vec())
    }

    fn half(&self) -> Result<&ChannelWriteHalf<Msg>, Gone> {
        if self.closed.load(Ordering::Acquire) {
            return Err(Gone);
        }
        self.half.as_ref().ok_or(Gone)
    }

    fn note_closed(&self) {
        self.closed.store(true, Ordering::Release);
        drop(self.slot.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let slot = self.slot.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let (Some(half), Some(slot)) = (self.half.take(), slot) else { return };
        if self.closed.load(Ordering::Acquire) {
            return;
        }
        slot.connection.abandon_channel();
        let limit = slot.connection.answer();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                // A connection that is blocked for this time is dead, and ends by its keepalive.
                let _ = timeout(limit, half.close()).await;
                drop(slot);
            });
        }
    }
}
