//! One line of a known_hosts file (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT).

use super::host_names::HostNames;
use super::key::{self, KeyError};

/// The kinds of line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    /// The key is a host's own.
    Host,
    /// The key signs certificates of hosts.
    Authority,
    /// The key is refused.
    Revoked,
}

/// A line with a key.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) marker: Marker,
    pub(crate) hosts: HostNames,
    /// The key in wire form.
    pub(crate) key: Vec<u8>,
}

/// Reasons why a line is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// It begins with `@` and an unknown word, or with two markers.
    #[error("the marker is unknown: write one of `@cert-authority` and `@revoked`, or none")]
    Marker,
    /// Its hash of a host is damaged.
    #[error("the hash of the host is damaged")]
    Hash,
    /// Its key is invalid.
    #[error(transparent)]
    Key(#[from] KeyError),
}

impl Line {
    /// Reads a line without its end; an empty line or a comment is `None`.
    ///
    /// # Errors
    ///
    /// It is something that OpenSSH skips.
    pub(crate) fn read(text: &[u8]) -> Result<Option<Self>, LineError> {
        // Programs in C end a line at a zero byte.
        let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
        let mut fields = text.split(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        let mut next = || fields.by_ref().find(|field| !field.is_empty()).unwrap_or_default();
        let mut first = next();
        if first.is_empty() || first.starts_with(b"#") {
            return Ok(None);
        }
        let marker = match first {
            b"@cert-authority" => Marker::Authority,
            b"@revoked" => Marker::Revoked,
            _ => Marker::Host,
        };
        if marker != Marker::Host {
            first = next();
        }
        if first.starts_with(b"@") {
            return Err(LineError::Marker);
        }
        let hosts = HostNames::read(first).ok_or(LineError::Hash)?;
        let (name, text) = (next(), next());
        if name.starts_with(b"#") {
            return Err(KeyError::Missing.into());
        }
        let key = key::read(name, text)?;
        Ok(Some(Self { marker, hosts, key }))
    }
}
