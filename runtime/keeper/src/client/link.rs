//! The connection to one keeper: two tasks that carry messages, and the end of its process.

use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net;
use std::pin::pin;
use std::process::Child;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::Interest;
use tokio::net::UnixDatagram;
use tokio::sync::mpsc::{self, OwnedPermit};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::process::{Parts, Process};
use super::table::{Table, Waits};
use crate::job::JOBS_MAX;
use crate::message::{Event, Request};
#[cfg(feature = "seccomp")]
use crate::observation::Observation;
use crate::packet::{self, PACKET_BYTES_MAX};

/// The most releases that wait to be sent. Every job has a place, from before its start, so that a
/// drop succeeds at once.
const RELEASES_MAX: usize = JOBS_MAX + 128;

/// The longest time from the end of the connection to that of the keeper, which ends its jobs.
const EXIT_TIME_MAX: Duration = Duration::from_secs(8);

/// The time between two looks at whether the keeper exited.
const EXIT_INTERVAL: Duration = Duration::from_millis(20);

/// The time that the release of a job that ended is held. Until then the server has answered its caller,
/// before which the keeper has no need of the processor; and the releases of others go with it.
const HELD_FOR: Duration = Duration::from_millis(1);

/// The keeper is gone.
#[derive(Debug)]
pub(super) struct Lost;

/// The connection to one keeper. Dropping it ends the keeper.
#[derive(Debug)]
pub(super) struct Link {
    pid: u32,
    key: u64,
    socket: Arc<UnixDatagram>,
    releases: mpsc::Sender<u64>,
    table: Arc<Mutex<Table>>,
    next_token: AtomicU64,
    /// True when the keeper's process is gone.
    exited: watch::Receiver<bool>,
}

impl Link {
    /// Takes over a keeper, inside a runtime.
    pub(super) fn open(process: Process) -> io::Result<Self> {
        let Some(Parts { child, socket, key }) = process.into_parts() else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        // Packets and readiness are all that tokio needs of a socket for this type.
        let socket = Arc::new(UnixDatagram::from_std(net::UnixDatagram::from(socket))?);
        let table = Arc::new(Mutex::new(Table::default()));
        let (releases, to_release) = mpsc::channel(RELEASES_MAX);
        let (exit, exited) = watch::channel(false);
        let pid = child.id();
        let releasing = tokio::spawn(release_all(Arc::clone(&socket), to_release)).abort_handle();
        let (own_socket, own_table) = (Arc::clone(&socket), Arc::clone(&table));
        tokio::spawn(async move {
            receive_all(&own_socket, &own_table).await;
            lock(&own_table).lose();
            releasing.abort();
            // A keeper that is still there sees the end of the connection.
            let _ = own_socket.shutdown(Shutdown::Both);
            wait_for_exit(child).await;
            exit.send_replace(true);
        });
        Ok(Self { pid, key, socket, releases, table, next_token: AtomicU64::new(1), exited })
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    pub(super) fn key(&self) -> u64 {
        self.key
    }

    pub(super) fn is_lost(&self) -> bool {
        lock(&self.table).is_lost()
    }

    /// Adds a job that is about to be started.
    pub(super) fn add_job(&self, number: u64) -> Result<Waits, Lost> {
        lock(&self.table).add_job(number).ok_or(Lost)
    }

    /// Passes the observations of a job on, until it is removed.
    #[cfg(feature = "seccomp")]
    pub(super) fn observe(&self, number: u64, to: mpsc::UnboundedSender<Observation>) {
        lock(&self.table).observe(number, to);
    }

    pub(super) fn remove_job(&self, number: u64) {
        lock(&self.table).remove_job(number);
    }

    /// Sends a request with these descriptors. A future that is dropped has sent all or nothing.
    pub(super) async fn send(&self, request: &Request, attached: &[OwnedFd]) -> io::Result<()> {
        let (bytes, attached) = (request.encode(), attached.iter().map(|one| one.as_fd()));
        let attached: Vec<_> = attached.collect();
        let send = || packet::send(&*self.socket, &bytes, &attached);
        self.socket.async_io(Interest::WRITABLE, send).await
    }

    /// Returns a place for the release of a job, which a drop can fill.
    pub(super) async fn place(&self) -> Result<OwnedPermit<u64>, Lost> {
        self.releases.clone().reserve_owned().await.map_err(|_| Lost)
    }

    /// Releases a job: soon if it has ended, else now. False: the socket has no room.
    pub(super) fn releases(&self, number: u64, has_ended: bool) -> bool {
        (has_ended && lock(&self.table).hold(number)) || send_release(&self.socket, number).is_ok()
    }

    /// Sends the request of a new token and returns its answer.
    pub(super) async fn ask(
        &self,
        request: impl FnOnce(u64) -> Request,
        time_max: Duration,
    ) -> io::Result<u32> {
        let lost = || io::Error::new(io::ErrorKind::BrokenPipe, "the keeper ended");
        let token = self.next_token.fetch_add(1, Ordering::Relaxed);
        let answered = lock(&self.table).add_answer(token).ok_or_else(lost)?;
        let _wait = Wait { table: &self.table, token };
        let asked = async {
            self.send(&request(token), &[]).await?;
            answered.await.map_err(|_| lost())?.map_err(io::Error::from_raw_os_error)
        };
        timeout(time_max, asked).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Ends the connection and waits until the keeper is gone.
    pub(super) async fn close(&self) {
        let _ = self.socket.shutdown(Shutdown::Both);
        let _ = self.exited.clone().wait_for(|exited| *exited).await;
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

/// Forgets a token when the wait for its answer is over.
struct Wait<'a> {
    table: &'a Mutex<Table>,
    token: u64,
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        lock(self.table).remove_answer(self.token);
    }
}

fn lock(table: &Mutex<Table>) -> MutexGuard<'_, Table> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

fn send_release(socket: &UnixDatagram, number: u64) -> io::Result<()> {
    packet::send(socket, &Request::Release { number }.encode(), &[])
}

async fn release_all(socket: Arc<UnixDatagram>, mut to_release: mpsc::Receiver<u64>) {
    while let Some(number) = to_release.recv().await {
        // An error is the end of the connection, which the other task notices.
        let send = || send_release(&socket, number);
        let _ = socket.async_io(Interest::WRITABLE, send).await;
    }
}

/// Passes messages on until the connection ends or a message is malformed.
async fn receive_all(socket: &UnixDatagram, table: &Mutex<Table>) {
    let mut buffer = vec![0; PACKET_BYTES_MAX];
    let mut held = pin!(sleep(HELD_FOR));
    let mut holds = false;
    loop {
        let receive = || {
            let packet = packet::receive(socket, &mut buffer)?;
            Ok(packet.map(|packet| (Event::decode(packet.bytes), packet.descriptors)))
        };
        let received = tokio::select! {
            received = socket.async_io(Interest::READABLE, receive) => received,
            () = &mut held, if holds => {
                let unsent = lock(table).take_held().into_iter();
                let unsent = unsent.filter(|number| send_release(socket, *number).is_err());
                let unsent: Vec<_> = unsent.collect();
                holds = !unsent.is_empty();
                if holds {
                    lock(table).hold_again(unsent);
                    held.as_mut().reset(Instant::now() + HELD_FOR);
                }
                continue;
            }
        };
        match received {
            Ok(Some((Ok(event), descriptors))) => {
                if lock(table).take(event, descriptors.into_iter().next()) {
                    holds = true;
                    held.as_mut().reset(Instant::now() + HELD_FOR);
                }
            }
            Ok(Some((Err(_), _)) | None) | Err(_) => return,
        }
    }
}

/// Reaps the keeper, which ends its jobs first. One that takes too long is killed.
async fn wait_for_exit(mut child: Child) {
    let until = Instant::now() + EXIT_TIME_MAX;
    while let Ok(None) = child.try_wait() {
        if Instant::now() >= until {
            let _ = child.kill();
        }
        sleep(EXIT_INTERVAL).await;
    }
}
