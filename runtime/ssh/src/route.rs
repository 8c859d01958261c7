//! The way to a host: jump hosts, then the host itself.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::host_key::{HostKeyMode, HostKeys};

/// The most hops of a route, the host included.
pub const HOPS_MAX: usize = 8;

/// The most private key files of a hop.
pub const IDENTITIES_MAX: usize = 16;

/// The hosts of a connection in the order in which they are reached; the last is the goal.
#[derive(Clone, Debug)]
pub struct Route {
    /// One to [`HOPS_MAX`] hops.
    pub hops: Vec<Hop>,
}

/// One SSH server on a route.
#[derive(Clone)]
pub struct Hop {
    /// The name of the host in messages.
    pub alias: String,
    /// The name or IP address to connect to. The hop before resolves it.
    pub address: String,
    /// The TCP port.
    pub port: u16,
    /// The user to log in as.
    pub user: String,
    /// The keys to log in with, in order. At most [`IDENTITIES_MAX`].
    pub identities: Vec<Identity>,
    /// Whether an agent offers only the keys of [`Hop::identities`].
    pub identities_only: bool,
    /// The socket of an SSH agent. Its keys are used here alone.
    pub agent: Option<PathBuf>,
    /// The name of the host in `known_hosts`, which a certificate of the host must bear.
    pub known_as: String,
    /// The keys that prove the host.
    pub trust: Arc<dyn HostKeys>,
    /// The treatment of a host with an untrusted key.
    pub mode: HostKeyMode,
}

/// A private key file, and optionally the certificate that an authority issued for it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Identity {
    /// The private key. Only its owner may read it. A key with a passphrase must be in the agent.
    pub key: PathBuf,
    /// The certificate in OpenSSH format.
    pub certificate: Option<PathBuf>,
}

/// The part of a route that decides whether a connection may serve it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct RouteKey(Vec<HopKey>);

#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct HopKey {
    address: String,
    port: u16,
    user: String,
    identities: Vec<Identity>,
    identities_only: bool,
    agent: Option<PathBuf>,
    known_as: String,
    rule: String,
    mode: HostKeyMode,
}

impl Route {
    /// Returns the value that is equal for routes which may share a connection.
    pub fn key(&self) -> RouteKey {
        RouteKey(self.hops.iter().map(Hop::key).collect())
    }
}

impl Hop {
    /// Returns `ALIAS (USER@ADDRESS:PORT)`, for messages.
    pub fn place(&self) -> String {
        let Self { alias, address, port, user, .. } = self;
        let bracketed =
            if address.contains(':') { format!("[{address}]") } else { address.clone() };
        format!("{alias} ({user}@{bracketed}:{port})")
    }

    fn key(&self) -> HopKey {
        // The alias is for messages alone.
        let Self { alias: _, address, port, user, identities, .. } = self;
        let Self { identities_only, agent, known_as, trust, mode, .. } = self;
        HopKey {
            address: address.clone(),
            port: *port,
            user: user.clone(),
            identities: identities.clone(),
            identities_only: *identities_only,
            agent: agent.clone(),
            known_as: known_as.clone(),
            rule: trust.rule(),
            mode: *mode,
        }
    }
}

impl fmt::Debug for Hop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hop").field(&self.place()).finish()
    }
}
