//! The connections of a server, shared by the calls to a host.
//!
//! One login serves many commands. Each rule here answers a limit of stock OpenSSH: 10 sessions on a
//! connection, 10 logins in progress.

use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use russh::Channel;
use russh::client::Msg;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::channel::{self, Pipe, Reader, Slot, Writer};
use crate::connection::{ConnectError, ConnectFailure, Connection, OpenError};
use crate::exec::{self, Command, End, Finished};
use crate::forward::{self, Forward, ForwardError, ForwardRequest};
use crate::host_key::fingerprint;
use crate::limits::Limits;
use crate::route::Route;
use crate::terminal::{self, Terminal, TerminalError, TerminalRequest};
use crate::transfer::{self, TransferError, TransferOptions, Transferred};
use flight::Flight;
use gates::Gates;
use state::{Host, Link, State};

mod flight;
mod gates;
mod state;

/// The connections that are tried where one after the other turns out to be lost.
const TRIES_MAX: usize = 4;

/// The longest wait for a connect to begin, while others to the same address are in progress.
const QUEUE_TIME_MAX: Duration = Duration::from_secs(60);

/// The longest wait for a free channel to a busy host.
const PLACE_TIME_MAX: Duration = Duration::from_secs(30);

/// The shortest time between two looks for unused connections.
const SWEEP_MIN: Duration = Duration::from_millis(50);

/// The connections of a server. Clones share them.
#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
}

/// The proof that a host can be reached.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Probe {
    /// The fingerprint of the key that the host proved.
    pub host_key: String,
    /// The time of the login, or zero if a connection was open.
    pub elapsed: Duration,
}

struct Shared {
    limits: Limits,
    state: Mutex<State>,
    gates: Gates,
    /// Wakes those who wait for a free channel.
    released: Arc<Notify>,
}

/// Counts a connection for a forward while it is made.
struct Opening {
    shared: Arc<Shared>,
    route: Route,
}

impl Drop for Opening {
    fn drop(&mut self) {
        if let Some(host) = self.shared.lock().hosts.get_mut(&self.route.key()) {
            host.opening = host.opening.saturating_sub(1);
        }
    }
}

/// The next step of a caller that wants a channel.
enum Step {
    Try(Slot),
    Join(Arc<Flight>),
    Wait,
}

impl Pool {
    /// Returns an empty pool.
    pub fn new(limits: Limits) -> Self {
        let gates = Gates::default();
        let shared = Shared { limits, state: Mutex::default(), gates, released: Arc::default() };
        Self { shared: Arc::new(shared) }
    }

    /// Runs a command on the last host of a route.
    ///
    /// The command is sent at most once. When `stop` completes, or the future is dropped, the command is
    /// ended.
    ///
    /// # Errors
    ///
    /// The host is out of reach. The command was left unsent.
    pub async fn run(
        &self,
        route: &Route,
        command: Command,
        stop: impl Future<Output = ()>,
    ) -> Result<Finished, ConnectError> {
        let mut stop = pin!(stop);
        let channel = tokio::select! {
            biased;
            () = &mut stop => return Err(failure(route, ConnectFailure::Stopped)),
            channel = self.session(route) => channel?,
        };
        // A task of its own, so that a caller that goes away still ends the command.
        let stopped = CancellationToken::new();
        let given_up = stopped.clone().drop_guard();
        let running = stopped.clone();
        let mut task =
            tokio::spawn(
                async move { exec::run(channel, command, running.cancelled_owned()).await },
            );
        let finished = tokio::select! {
            finished = &mut task => finished,
            () = &mut stop => {
                stopped.cancel();
                task.await
            }
        };
        drop(given_up);
        // The task fails only with the whole runtime.
        Ok(finished.unwrap_or_else(|_| lost()))
    }

    /// Opens a terminal on the last host of a route.
    ///
    /// # Errors
    ///
    /// The host is out of reach, or refuses the terminal or the command.
    pub async fn terminal(
        &self,
        route: &Route,
        request: TerminalRequest,
    ) -> Result<Terminal, ConnectError> {
        let channel = self.session(route).await?;
        let opened = terminal::open(channel, request, self.shared.limits.answer).await;
        opened.map_err(|error| match error {
            TerminalError::Refused => failure(route, ConnectFailure::TerminalRefused),
            TerminalError::Ended | TerminalError::Blocked => {
                failure(route, ConnectFailure::TerminalLost)
            }
        })
    }

    /// Copies a file on this machine to a path on the host; with
    /// [`recursive`](TransferOptions::recursive), the content of a folder into the folder `remote`.
    ///
    /// # Errors
    ///
    /// The host is out of reach, reading or writing a file fails, or a limit is reached.
    pub async fn upload(
        &self,
        route: &Route,
        paths: (&Path, &str),
        options: &TransferOptions,
        stop: impl Future<Output = ()>,
    ) -> Result<Transferred, TransferError> {
        let (local, remote) = paths;
        transfer::upload(self.sftp(route), local, remote, options, stop).await
    }

    /// Copies a file on the host to a path on this machine; with
    /// [`recursive`](TransferOptions::recursive), the content of a folder into the folder `local`.
    ///
    /// # Errors
    ///
    /// The host is out of reach, reading or writing a file fails, or a limit is reached.
    pub async fn download(
        &self,
        route: &Route,
        paths: (&str, &Path),
        options: &TransferOptions,
        stop: impl Future<Output = ()>,
    ) -> Result<Transferred, TransferError> {
        let (remote, local) = paths;
        transfer::download(self.sftp(route), remote, local, options, stop).await
    }

    /// Opens a forward on a connection of its own.
    ///
    /// # Errors
    ///
    /// The host is out of reach, or the port is taken.
    pub async fn forward(
        &self,
        route: &Route,
        request: ForwardRequest,
    ) -> Result<Forward, ForwardError> {
        let key = route.key();
        let shared = Arc::clone(&self.shared);
        {
            let mut state = shared.lock();
            if !state.make_room(shared.limits.connections_max) {
                let limit = shared.limits.connections_max;
                return Err(failure(route, ConnectFailure::Busy { limit }).into());
            }
            state.hosts.entry(key).or_insert_with(|| Host::new(route.clone())).opening += 1;
        }
        let opening = Opening { shared: Arc::clone(&shared), route: route.clone() };
        let connection = shared.make(route).await?;
        let slot = shared.insert_private(route, connection);
        drop(opening);
        // The route was refused meanwhile.
        let slot = slot.ok_or_else(|| failure(route, ConnectFailure::Stopped))?;
        let connection = Arc::clone(&slot.connection);
        let opened = forward::open(slot, request).await;
        if opened.is_err() {
            connection.end().await;
        }
        opened
    }

    /// Logs in to the last host of a route, unless a connection is open, and runs nothing.
    ///
    /// # Errors
    ///
    /// The host is out of reach, or refuses a channel.
    pub async fn probe(&self, route: &Route) -> Result<Probe, ConnectError> {
        let begun = Instant::now();
        let open = self.shared.lock().hosts.get(&route.key()).is_some_and(Host::has_usable);
        let (_, writer) = self.session(route).await?;
        let host_key = writer.host_key().and_then(|key| fingerprint(&key)).unwrap_or_default();
        let elapsed = if open { Duration::ZERO } else { begun.elapsed() };
        Ok(Probe { host_key, elapsed })
    }

    /// Returns the number of open connections.
    pub fn connections(&self) -> usize {
        self.connected().len()
    }

    /// Returns the alias of the goal of each open connection.
    pub fn connected(&self) -> Vec<String> {
        let state = self.shared.lock();
        let mut aliases = Vec::new();
        for host in state.hosts.values() {
            let alias = host.route.hops.last().map(|hop| hop.alias.as_str()).unwrap_or_default();
            let open = host.links.iter().filter(|link| !link.connection.is_closed());
            aliases.extend(open.map(|_| alias.to_owned()));
        }
        aliases
    }

    /// Ends every connection whose route `keep` refuses. Commands on it are lost, and may go on at the host.
    pub async fn retain(&self, mut keep: impl FnMut(&Route) -> bool) {
        let mut ended = Vec::new();
        {
            let mut state = self.shared.lock();
            state.hosts.retain(|_, host| {
                let kept = keep(&host.route);
                if !kept {
                    ended.append(&mut host.links);
                    if let Some(flight) = host.flight.upgrade() {
                        flight.abort();
                    }
                }
                kept
            });
        }
        let ends: Vec<_> = ended
            .into_iter()
            .map(|link| tokio::spawn(async move { link.connection.end().await }))
            .collect();
        for end in ends {
            let _ = end.await;
        }
        self.shared.released.notify_waiters();
    }

    /// Opens a channel for a command or a terminal.
    async fn session(&self, route: &Route) -> Result<(Reader, Arc<Writer>), ConnectError> {
        self.channel(route, |channel, slot| std::future::ready(channel::guard(channel, slot))).await
    }

    /// Opens a channel for file transfers.
    async fn sftp(&self, route: &Route) -> Result<Pipe, TransferError> {
        let pipe =
            self.channel(route, |channel, slot| channel::subsystem(channel, slot, "sftp")).await?;
        pipe.ok_or(TransferError::NoSftp)
    }

    /// Opens a channel and hands it to `take`, which owns it from then on.
    async fn channel<T, F>(
        &self,
        route: &Route,
        take: impl Fn(Channel<Msg>, Slot) -> F + Clone + Send + 'static,
    ) -> Result<T, ConnectError>
    where
        F: Future<Output = T> + Send,
        T: Send + 'static,
    {
        let until = Instant::now() + PLACE_TIME_MAX;
        let mut lost = 0;
        let mut refused = "no channel could be opened".to_owned();
        while lost < TRIES_MAX && Instant::now() < until {
            let released = self.shared.released.notified();
            let mut released = pin!(released);
            released.as_mut().enable();
            match self.shared.step(route)? {
                Step::Wait => {
                    let left = until.saturating_duration_since(Instant::now());
                    if timeout(left, released).await.is_err() {
                        refused = "all channels to the host are in use".to_owned();
                        break;
                    }
                }
                Step::Join(flight) => match flight.landed().await {
                    Some(landed) => landed?,
                    None => return Err(failure(route, ConnectFailure::Stopped)),
                },
                Step::Try(slot) => {
                    let connection = Arc::clone(&slot.connection);
                    match open(slot, take.clone()).await {
                        Ok(channel) => return Ok(channel),
                        Err(OpenError::Refused(reason)) => {
                            refused = reason;
                            if self.shared.note_full(route, &connection) {
                                break;
                            }
                        }
                        // Nothing was sent, so another connection may try.
                        Err(OpenError::Lost) => {
                            lost += 1;
                            "the connection was lost".clone_into(&mut refused);
                            self.shared.forget(route, &connection);
                        }
                    }
                }
            }
        }
        Err(failure(route, ConnectFailure::Session { reason: refused }))
    }
}

/// Opens a channel in a task of its own: where the caller goes away, the channel that the host then
/// opens is closed.
async fn open<T, F>(
    slot: Slot,
    take: impl Fn(Channel<Msg>, Slot) -> F + Send + 'static,
) -> Result<T, OpenError>
where
    F: Future<Output = T> + Send,
    T: Send + 'static,
{
    let opening = tokio::spawn(async move {
        let channel = slot.connection.open_session().await?;
        Ok(take(channel, slot).await)
    });
    opening.await.unwrap_or(Err(OpenError::Lost))
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn step(self: &Arc<Self>, route: &Route) -> Result<Step, ConnectError> {
        let mut state = self.lock();
        let key = route.key();
        if let Some(host) = state.hosts.get_mut(&key) {
            host.links.retain(Link::is_worth);
            if let Some(slot) = host.place(&self.released) {
                return Ok(Step::Try(slot));
            }
            // A finished connect leaves its result to its waiters alone.
            if let Some(flight) = host.flight.upgrade().filter(|flight| !flight.has_landed()) {
                return Ok(Step::Join(flight));
            }
            if host.is_full() {
                return Ok(Step::Wait);
            }
        }
        if !state.make_room(self.limits.connections_max) {
            let limit = self.limits.connections_max;
            return Err(failure(route, ConnectFailure::Busy { limit }));
        }
        let (shared, to) = (Arc::clone(self), route.clone());
        let flight = Arc::new(Flight::start(async move { shared.connect(&to).await }));
        let host = state.hosts.entry(key).or_insert_with(|| Host::new(route.clone()));
        host.flight = Arc::downgrade(&flight);
        Ok(Step::Join(flight))
    }

    async fn connect(self: &Arc<Self>, route: &Route) -> Result<(), ConnectError> {
        let connection = self.make(route).await?;
        self.insert(route, connection);
        Ok(())
    }

    /// Connects when it is the route's turn.
    async fn make(&self, route: &Route) -> Result<Connection, ConnectError> {
        let turn = timeout(QUEUE_TIME_MAX, self.gates.enter(route)).await;
        let _passes =
            turn.map_err(|_| failure(route, ConnectFailure::Queued { limit: QUEUE_TIME_MAX }))?;
        Connection::make(route, &self.limits).await
    }

    /// Takes in a new connection.
    fn insert(self: &Arc<Self>, route: &Route, connection: Connection) {
        self.insert_link(route, Link::new(connection));
    }

    /// Takes in a connection for one user, and returns its place.
    fn insert_private(self: &Arc<Self>, route: &Route, connection: Connection) -> Option<Slot> {
        let mut link = Link::new(connection);
        let slot = link.place(&self.released);
        link.private = true;
        self.insert_link(route, link).then_some(slot).flatten()
    }

    /// False: the route was given up meanwhile. Its connection ends.
    fn insert_link(self: &Arc<Self>, route: &Route, link: Link) -> bool {
        let mut state = self.lock();
        let Some(host) = state.hosts.get_mut(&route.key()) else { return false };
        host.links.push(link);
        if !state.sweeping {
            state.sweeping = true;
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
        true
    }

    /// Notes that the host refuses further channels on a connection. True: this was the first, so a new
    /// connection would be as useless.
    fn note_full(&self, route: &Route, full: &Arc<Connection>) -> bool {
        let mut state = self.lock();
        let Some(host) = state.hosts.get_mut(&route.key()) else { return false };
        let link = host.links.iter_mut().find(|link| Arc::ptr_eq(&link.connection, full));
        let Some(link) = link else { return false };
        // A closed channel whose command runs on still counts at the host.
        link.full = true;
        link.is_unused() && !full.has_served()
    }

    fn forget(&self, route: &Route, lost: &Arc<Connection>) {
        if let Some(host) = self.lock().hosts.get_mut(&route.key()) {
            host.links.retain(|link| !Arc::ptr_eq(&link.connection, lost));
        }
    }
}

/// Ends unused connections, as long as there are any.
async fn sweep(pool: Weak<Shared>) {
    loop {
        let Some(shared) = pool.upgrade() else { return };
        let pause = (shared.limits.idle / 4).max(SWEEP_MIN);
        drop(shared);
        sleep(pause).await;
        let Some(shared) = pool.upgrade() else { return };
        let mut state = shared.lock();
        state.sweep(shared.limits.idle);
        if state.hosts.is_empty() {
            state.sweeping = false;
            return;
        }
    }
}

fn failure(route: &Route, cause: ConnectFailure) -> ConnectError {
    let place = route.hops.last().map_or_else(|| "route".to_owned(), crate::route::Hop::place);
    ConnectError { place, cause }
}

fn lost() -> Finished {
    let (stdout, stderr) = (Vec::new(), Vec::new());
    Finished { stdout, stderr, stdout_bytes: 0, stderr_bytes: 0, end: End::Lost }
}
