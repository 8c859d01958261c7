//! One SSH connection: made, checked, logged in.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use russh::client::Msg;
use russh::{Channel, Disconnect};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use crate::limits::Limits;
use crate::route::{HOPS_MAX, Route};
use reach::{Attempt, Reached};
use stream::Switch;

pub use error::{ConnectError, ConnectFailure};
pub use scan::{FoundKey, ScannedKey, keyscan};

mod error;
mod handler;
mod key_file;
mod login;
mod proof;
mod reach;
mod scan;
mod signer;
mod stream;

/// The attempts at a host that closes new connections at once.
const ATTEMPTS_MAX: u32 = 3;

/// The channels that we closed first, after which a connection is replaced. russh keeps some
/// kilobytes for each of them until the connection ends.
const ABANDONED_MAX: usize = 200;

/// The time that the last messages of an unused connection have to leave.
const PARTING: Duration = Duration::from_secs(2);

/// A connection to the last host of a route, logged in.
pub(crate) struct Connection {
    reached: Reached,
    ends: Ends,
    abandoned: AtomicUsize,
    served: AtomicBool,
    answer: Duration,
}

/// Ends the tasks of a connection when it is dropped, those of its jump hosts included.
struct Ends(Vec<Switch>);

/// The reason why a channel failed to open.
#[derive(Debug)]
pub(crate) enum OpenError {
    /// The host refuses it; the connection works.
    Refused(String),
    /// The connection is lost or dead.
    Lost,
}

impl Connection {
    /// Connects to each hop of the route and logs in.
    ///
    /// Dropping the future frees the socket.
    pub(crate) async fn make(route: &Route, limits: &Limits) -> Result<Self, ConnectError> {
        let Some(last) = route.hops.last().filter(|_| route.hops.len() <= HOPS_MAX) else {
            let hops = route.hops.len();
            return Err(ConnectError {
                place: "route".to_owned(),
                cause: ConnectFailure::Route { hops },
            });
        };
        let mut at = last.place();
        match timeout(limits.connect, attempts(route, limits, &mut at)).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(cause)) => Err(ConnectError { place: at, cause }),
            Err(_) => {
                let cause = ConnectFailure::Timeout { limit: limits.connect };
                Err(ConnectError { place: at, cause })
            }
        }
    }

    /// Opens a channel for a command, a terminal or a subsystem.
    pub(crate) async fn open_session(&self) -> Result<Channel<Msg>, OpenError> {
        let channel =
            opened(timeout(self.answer, self.reached.handle.channel_open_session()).await)?;
        self.served.store(true, Ordering::Relaxed);
        Ok(channel)
    }

    /// Opens a channel to an address that the host connects to.
    pub(crate) async fn open_direct(
        &self,
        host: &str,
        port: u16,
    ) -> Result<Channel<Msg>, OpenError> {
        let opening =
            self.reached.handle.channel_open_direct_tcpip(host, port.into(), "127.0.0.1", 0);
        opened(timeout(self.answer, opening).await)
    }

    /// Asks the host to listen on a port, or on one of its choice for 0. Returns the port and its
    /// connections, of which `waiting` may wait. A connection serves one port.
    pub(crate) async fn listen(
        &self,
        address: &str,
        port: u16,
        waiting: usize,
    ) -> Result<(u16, mpsc::Receiver<Channel<Msg>>), OpenError> {
        let asking = self.reached.handle.tcpip_forward(address, port.into());
        let given = match timeout(self.answer, asking).await {
            Ok(Ok(given)) => u16::try_from(given).unwrap_or_default(),
            Ok(Err(russh::Error::RequestDenied)) => {
                return Err(OpenError::Refused(
                    "the port is taken, or forwarding is off".to_owned(),
                ));
            }
            Ok(Err(_)) | Err(_) => return Err(OpenError::Lost),
        };
        // The host names the port only if it chose it.
        let port = if port == 0 { given } else { port };
        let (sender, receiver) = mpsc::channel(waiting);
        if port == 0 || !self.reached.forwarded.accept(port.into(), sender) {
            return Err(OpenError::Refused("the host named no port".to_owned()));
        }
        Ok((port, receiver))
    }

    /// Waits for the end of the connection, by the host or by [`Connection::end`].
    pub(crate) async fn gone(&self) {
        self.reached.gone.cancelled().await;
    }

    /// Returns whether the connection can carry a new channel.
    pub(crate) fn is_usable(&self) -> bool {
        !self.reached.handle.is_closed() && self.abandoned.load(Ordering::Relaxed) < ABANDONED_MAX
    }

    /// Returns whether the connection is lost.
    pub(crate) fn is_closed(&self) -> bool {
        self.reached.handle.is_closed()
    }

    /// Counts a channel that we close before the host does.
    pub(crate) fn abandon_channel(&self) {
        self.abandoned.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns whether the host ever opened a session on it.
    pub(crate) fn has_served(&self) -> bool {
        self.served.load(Ordering::Relaxed)
    }

    /// Returns the key of the host in wire form.
    pub(crate) fn host_key(&self) -> &[u8] {
        &self.reached.host_key
    }

    /// Returns the time that the host has for an answer.
    pub(crate) fn answer(&self) -> Duration {
        self.answer
    }

    /// Ends the connection at once, with everything that runs over it.
    pub(crate) async fn end(&self) {
        let goodbye = self.reached.handle.disconnect(Disconnect::ByApplication, "", "");
        // A blocked connection would wait here.
        let _ = timeout(Duration::from_millis(500), goodbye).await;
        cut(&self.ends.0);
        // A task of russh that waits for the reader of a channel notices the cut after that reader has
        // gone. Readers wait for this.
        self.reached.gone.cancel();
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        let switches = std::mem::take(&mut self.0);
        // A connection that is in order ends by itself when its handle is dropped, after it sent what
        // is queued. The switch is for one that is blocked.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => {
                runtime.spawn(async move {
                    sleep(PARTING).await;
                    cut(&switches);
                });
            }
            Err(_) => cut(&switches),
        }
    }
}

/// Ends the host before its jump hosts, so that the close of its channel still passes.
fn cut(switches: &[Switch]) {
    switches.iter().rev().for_each(Switch::cut);
}

fn opened<E>(
    result: Result<Result<Channel<Msg>, russh::Error>, E>,
) -> Result<Channel<Msg>, OpenError> {
    match result {
        Ok(Ok(channel)) => Ok(channel),
        Ok(Err(russh::Error::ChannelOpenFailure(reason))) => {
            Err(OpenError::Refused(reason.description().to_owned()))
        }
        Ok(Err(_)) | Err(_) => Err(OpenError::Lost),
    }
}

/// Makes the connection, again if the host turns it away before it spoke.
async fn attempts(
    route: &Route,
    limits: &Limits,
    at: &mut String,
) -> Result<Connection, ConnectFailure> {
    let mut attempt = 1;
    loop {
        match chain(route, limits, at).await {
            Err(ConnectFailure::Turned { .. }) if attempt < ATTEMPTS_MAX => {
                attempt += 1;
                sleep(jitter()).await;
            }
            result => return result,
        }
    }
}

/// Returns 100 to 400 ms at random, so that callers turned away together return one by one.
fn jitter() -> Duration {
    let mut byte = [0];
    let drawn = rustix::rand::getrandom(&mut byte, rustix::rand::GetRandomFlags::NONBLOCK);
    let [byte] = if drawn.is_ok() { byte } else { [128] };
    Duration::from_millis(100 + u64::from(byte) * 300 / 255)
}

async fn chain(
    route: &Route,
    limits: &Limits,
    at: &mut String,
) -> Result<Connection, ConnectFailure> {
    let mut attempt = Attempt(Vec::new());
    let reached = reach::reach(&route.hops, limits, at, &mut attempt).await?;
    let reached = reached.ok_or(ConnectFailure::Route { hops: 0 })?;
    let ends = Ends(std::mem::take(&mut attempt.0));
    Ok(Connection {
        reached,
        ends,
        abandoned: AtomicUsize::new(0),
        served: AtomicBool::new(false),
        answer: limits.answer,
    })
}
