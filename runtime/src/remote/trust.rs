//! The keys that prove one host: those that its project pins, else those that the server knows.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use relay_ssh::known_hosts::{KnownHosts, Verdict, append, entry};
use relay_ssh::{HostKeyVerdict, HostKeys};

/// The keys that prove one host.
pub(super) struct Trust {
    pub(super) known: Arc<KnownHosts>,
    /// Differs with each change of the known hosts.
    pub(super) times: u64,
    /// Only the pins of the host; absent if the project pins none.
    pub(super) pinned: Option<Pinned>,
    /// The name of the host in known_hosts.
    pub(super) name: String,
    pub(super) port: u16,
    /// The file for the keys of new hosts.
    pub(super) learning: Option<PathBuf>,
}

/// The pins of a host.
pub(super) struct Pinned {
    pub(super) keys: KnownHosts,
    /// Them as the project writes them.
    pub(super) text: String,
}

impl Trust {
    /// Returns the only keys that count.
    fn counting(&self) -> &KnownHosts {
        self.pinned.as_ref().map_or(&self.known, |pinned| &pinned.keys)
    }
}

impl HostKeys for Trust {
    fn rule(&self) -> String {
        let Self { times, pinned, name, port, .. } = self;
        let pins = pinned.as_ref().map(|pinned| &pinned.text);
        format!("{times} {name} {port} {pins:?}")
    }

    fn algorithms(&self) -> Vec<String> {
        self.counting().key_types(&self.name, self.port).into_iter().collect()
    }

    fn authorities(&self) -> Vec<Vec<u8>> {
        let all = self.counting().authorities(&self.name, self.port);
        all.into_iter().map(|(_, key)| key.to_vec()).collect()
    }

    fn verdict(&self, key: &[u8]) -> HostKeyVerdict {
        // A key that was revoked counts for a pin no more either.
        if let Some(at) = self.known.revoked(&self.name, self.port, key) {
            return HostKeyVerdict::Revoked { at: at.to_string() };
        }
        match self.counting().verdict(&self.name, self.port, key) {
            Verdict::Known { .. } => HostKeyVerdict::Trusted,
            Verdict::Unknown => HostKeyVerdict::Unknown,
            Verdict::Changed { at } => HostKeyVerdict::Changed { at: at.to_string() },
            Verdict::Revoked { at } => HostKeyVerdict::Revoked { at: at.to_string() },
        }
    }

    fn learn(&self, key: &[u8]) -> io::Result<()> {
        let Some(file) = &self.learning else {
            return Err(io::Error::other("no file of known hosts is set"));
        };
        let line = entry(&self.name, self.port, key).map_err(io::Error::other)?;
        append(file, &line).map_err(io::Error::other)
    }
}
