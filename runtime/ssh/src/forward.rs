//! Ports that lead through a host.
//!
//! Each forward has a connection of its own: a client that stops reading would stop every other channel
//! of a shared one.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use russh::Channel;
use russh::client::Msg;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use crate::channel::Slot;
use crate::connection::{ConnectError, Connection, OpenError};
use relayed::relay;

pub use target::Target;

mod relayed;
mod socks;
mod target;

/// The most clients of a forward at once. Others wait to be accepted; from the host, they are closed.
const CLIENTS_MAX: usize = 64;

/// The most connections from the host between their acceptance and their service.
const WAITING_MAX: usize = 16;

/// The longest time for a connection from here to the target of a remote forward.
const TARGET_TIME_MAX: Duration = Duration::from_secs(10);

/// The pause after a failed accept, which happens where the machine lacks descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Decides whether a client of a dynamic forward may reach a target. Returns at once.
pub type Allow = Arc<dyn Fn(&Target) -> bool + Send + Sync>;

/// A forward to open.
#[derive(Clone)]
pub enum ForwardRequest {
    /// A port here that leads to a target as the host sees it. Port 0: any free one.
    Local {
        /// The port here, on the loopback interface.
        listen: u16,
        /// The target, which the host connects to.
        target: Target,
    },
    /// A SOCKS5 proxy here, whose targets the host connects to. Port 0: any free one.
    Dynamic {
        /// The port here, on the loopback interface.
        listen: u16,
        /// Is asked about each target before the host is.
        allow: Allow,
    },
    /// A port at the host that leads to a target as this machine sees it. Port 0: any free one.
    Remote {
        /// The address that the host listens on, such as `localhost`.
        bind: String,
        /// The port at the host.
        port: u16,
        /// The target, which this machine connects to.
        target: Target,
    },
}

/// An open forward. It ends when it is dropped, with its connections.
pub struct Forward {
    port: u16,
    slot: Option<Slot>,
    counts: Arc<Counts>,
    serving: AbortHandle,
}

/// The reason why a forward failed to open.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForwardError {
    /// The host is out of reach.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The port here is unusable.
    #[error("port {port} cannot be opened here: {source}")]
    Listen {
        /// The port.
        port: u16,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The host refuses to listen.
    #[error("the host does not open port {port}: {reason}")]
    Refused {
        /// The port.
        port: u16,
        /// The reason.
        reason: String,
    },
    /// The connection was lost.
    #[error("the connection was lost while the forward opened")]
    Lost,
}

/// The clients of a forward.
#[derive(Default)]
struct Counts {
    open: AtomicUsize,
    all: AtomicU64,
}

/// The service of one client of a forward.
struct Client {
    connection: Arc<Connection>,
    counts: Arc<Counts>,
    _place: OwnedSemaphorePermit,
}

/// Opens a forward on a connection that serves nothing else.
pub(crate) async fn open(slot: Slot, request: ForwardRequest) -> Result<Forward, ForwardError> {
    let connection = Arc::clone(&slot.connection);
    let counts = Arc::new(Counts::default());
    let counted = Arc::clone(&counts);
    let places = Arc::new(Semaphore::new(CLIENTS_MAX));
    let (port, serving) = match request {
        ForwardRequest::Local { listen, target } => {
            let (port, listener) = listening(listen).await?;
            (
                port,
                tokio::spawn(serve_local(
                    listener,
                    connection,
                    (counted, places),
                    Way::Fixed(target),
                )),
            )
        }
        ForwardRequest::Dynamic { listen, allow } => {
            let (port, listener) = listening(listen).await?;
            (
                port,
                tokio::spawn(serve_local(
                    listener,
                    connection,
                    (counted, places),
                    Way::Socks(allow),
                )),
            )
        }
        ForwardRequest::Remote { bind, port, target } => {
            let opened = connection.listen(&bind, port, WAITING_MAX).await;
            let (port, channels) = opened.map_err(|error| match error {
                OpenError::Refused(reason) => ForwardError::Refused { port, reason },
                OpenError::Lost => ForwardError::Lost,
            })?;
            (port, tokio::spawn(serve_remote(channels, connection, (counted, places), target)))
        }
    };
    Ok(Forward { port, slot: Some(slot), counts, serving: serving.abort_handle() })
}

impl Forward {
    /// Returns the port, here or at the host.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the number of clients that are connected.
    pub fn clients(&self) -> usize {
        self.counts.open.load(Ordering::Relaxed)
    }

    /// Returns the number of clients since the forward was opened.
    pub fn clients_served(&self) -> u64 {
        self.counts.all.load(Ordering::Relaxed)
    }

    /// Waits until the connection to the host is lost. The forward is closed from then on.
    pub async fn ended(&self) {
        if let Some(slot) = &self.slot {
            slot.connection.gone().await;
        }
    }
}

impl Drop for Forward {
    fn drop(&mut self) {
        self.serving.abort();
        let slot = self.slot.take();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Some(slot) = slot {
                    slot.connection.end().await;
                }
            });
        }
    }
}

/// The way to the target of a client.
#[derive(Clone)]
enum Way {
    Fixed(Target),
    Socks(Allow),
}

async fn listening(port: u16) -> Result<(u16, TcpListener), ForwardError> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let opened = async {
        let listener = TcpListener::bind(address).await?;
        let port = listener.local_addr()?.port();
        Ok((port, listener))
    };
    opened.await.map_err(|source| ForwardError::Listen { port, source })
}

async fn serve_local(
    listener: TcpListener,
    connection: Arc<Connection>,
    limits: (Arc<Counts>, Arc<Semaphore>),
    way: Way,
) {
    let (counts, places) = limits;
    // The semaphore stays open.
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            // The port here closes with the host.
            () = connection.gone() => return,
        };
        let Ok((socket, _)) = accepted else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let client = Client::new(&connection, &counts, place);
        let way = way.clone();
        tokio::spawn(async move {
            // A client that ends early, or a target that refuses, is the client's affair.
            let _ = client.serve(socket, way).await;
        });
    }
}

async fn serve_remote(
    mut channels: mpsc::Receiver<Channel<Msg>>,
    connection: Arc<Connection>,
    limits: (Arc<Counts>, Arc<Semaphore>),
    target: Target,
) {
    let (counts, places) = limits;
    while let Some(channel) = channels.recv().await {
        let stream = channel.into_stream();
        // An accepted channel that waits unread would stop the others, so one too many is closed.
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        let client = Client::new(&connection, &counts, place);
        let to = (target.host.clone(), target.port);
        tokio::spawn(async move {
            if let Ok(Ok(socket)) = timeout(TARGET_TIME_MAX, TcpStream::connect(to)).await {
                let _ = relay(socket, stream, client.connection.gone()).await;
            }
        });
    }
}

impl Client {
    fn new(
        connection: &Arc<Connection>,
        counts: &Arc<Counts>,
        place: OwnedSemaphorePermit,
    ) -> Self {
        counts.open.fetch_add(1, Ordering::Relaxed);
        counts.all.fetch_add(1, Ordering::Relaxed);
        Self { connection: Arc::clone(connection), counts: Arc::clone(counts), _place: place }
    }

    async fn serve(&self, mut socket: TcpStream, way: Way) -> std::io::Result<()> {
        let _ = socket.set_nodelay(true);
        let (target, socks) = match way {
            Way::Fixed(target) => (target, false),
            Way::Socks(allow) => match socks::requested(&mut socket).await? {
                Some(target) if allow(&target) => (target, true),
                Some(_) => return socks::answer(&mut socket, socks::NOT_ALLOWED).await,
                None => return Ok(()),
            },
        };
        let Ok(channel) = self.connection.open_direct(&target.host, target.port).await else {
            return if socks {
                socks::answer(&mut socket, socks::REFUSED).await
            } else {
                socket.shutdown().await
            };
        };
        let stream = channel.into_stream();
        if socks {
            socks::answer(&mut socket, socks::CONNECTED).await?;
        }
        relay(socket, stream, self.connection.gone()).await
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.counts.open.fetch_sub(1, Ordering::Relaxed);
    }
}
