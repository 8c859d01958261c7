//! The questions that a connection asks about the key of a host.
//!
//! The answers come from a `known_hosts` file. The trait keeps the connection free of files: it is
//! asked in the middle of a key exchange, where nothing may wait.

use std::io;

use russh::keys::{HashAlg, PublicKey};

/// The keys by which a host proves itself, read beforehand and kept in memory.
pub trait HostKeys: Send + Sync {
    /// Returns a text that is equal for two values exactly if both trust the same keys.
    ///
    /// A connection is reused only for a route with the same text.
    fn rule(&self) -> String;

    /// Returns the key types with an entry for the host, the preferred first, in the names of
    /// RFC 4253 (`ssh-ed25519`). Only these are asked of the host. Empty: every type.
    fn algorithms(&self) -> Vec<String>;

    /// Returns the public keys of the authorities that may certify the host, in wire form.
    fn authorities(&self) -> Vec<Vec<u8>>;

    /// Returns the verdict on a public key in wire form, from memory.
    ///
    /// A connection also asks about the authority of a certificate; only
    /// [`Revoked`](HostKeyVerdict::Revoked) counts then.
    fn verdict(&self, key: &[u8]) -> HostKeyVerdict;

    /// Records the key of a new host.
    ///
    /// # Errors
    ///
    /// Writing the file fails.
    fn learn(&self, key: &[u8]) -> io::Result<()>;
}

/// The verdict of [`HostKeys`] on one key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum HostKeyVerdict {
    /// An entry for the host has this key.
    Trusted,
    /// An entry for the host is missing.
    Unknown,
    /// All entries for the host have other keys.
    Changed {
        /// The place of an entry, such as `known_hosts:12`.
        at: String,
    },
    /// A `@revoked` entry has this key.
    Revoked {
        /// The place of the entry.
        at: String,
    },
}

/// The treatment of a host with an untrusted key. Revoked keys are refused by every mode.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum HostKeyMode {
    /// Only a trusted key is accepted.
    Strict,
    /// The key of a new host is accepted and recorded. A changed key is refused.
    AcceptNew,
    /// Every key is accepted. The connection is then open to an impostor.
    Ignore,
}

/// Returns the fingerprint of a public key in wire form as `ssh-keygen -l` writes it, or `None` for
/// other bytes.
pub fn fingerprint(key: &[u8]) -> Option<String> {
    Some(PublicKey::from_bytes(key).ok()?.fingerprint(HashAlg::Sha256).to_string())
}
