//! A session channel that is always closed.
//!
//! Two properties of russh make this necessary. Dropping its channel closes nothing, so a command would
//! run on and send on. And a channel that no one reads stops the whole connection with all its channels:
//! whoever holds a [`Reader`] reads it without pause or drops it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use russh::client::Msg;
use russh::{Channel, ChannelMsg, ChannelReadHalf, ChannelWriteHalf, Sig};
use tokio::sync::{Notify, OwnedSemaphorePermit};
use tokio::time::timeout;

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

/// The host, or the connection to it, takes no more messages.
#[derive(Debug)]
pub(crate) struct Gone;

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
    /// Sends a command. It is sent once, whatever happens.
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

    /// Ends the input. Without it, programs that read their input wait forever.
    pub(crate) async fn end_input(&self) -> Result<(), Gone> {
        self.half()?.eof().await.map_err(|_| Gone)
    }

    /// Sends a signal. The host does not answer, and OpenSSH refuses it where root logs in.
    pub(crate) async fn signal(&self, signal: Sig) -> Result<(), Gone> {
        self.half()?.signal(signal).await.map_err(|_| Gone)
    }

    /// Returns the key of the host in wire form. None: the channel is closed.
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
                // A connection that takes no message in this time is dead, and ends by its keepalive.
                let _ = timeout(limit, half.close()).await;
                drop(slot);
            });
        }
    }
}
