//! Known host keys: which key a host must show, by the files of OpenSSH and by pins.
//!
//! The rules are those of ssh(1), and of the source of OpenSSH where its manual is silent:
//!
//! - A host on another port than 22 is known as `[host]:port`. A host that is unknown by
//!   that name may be vouched for by a line about the bare host, which never denies a key.
//! - A line is about a host if one of its patterns matches, unless one after a `!` does; a hashed name
//!   is the only one of its line. Names are compared in lower case.
//! - One line with the key is enough. A host with lines of other keys, of any type, has changed.
//! - A `@revoked` line comes before all of it. It holds for the bare host as well as for `[host]:port`,
//!   while OpenSSH looks at the first that is known: stricter, as a revoked key is known to be stolen.
//!
//! Keys are bytes in their wire form, of which the first string is the type. A file is read into memory
//! before a connection, so that an answer within the key exchange comes from memory. Connections and
//! the checks of certificates are work of the callers.

mod file;
mod host_names;
mod key;
mod line;
mod name;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

pub use self::file::{FILE_BYTES_MAX, FileError, append, read};
pub use self::key::KeyError;
pub use self::line::LineError;
use self::line::{Line, Marker};
use crate::host_name;
use crate::place::Place;

/// The most pins of one host.
pub const PINS_MAX: usize = 16;

/// Judgements of the key that a host shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A line or a pin has the key.
    Known {
        /// The line.
        at: Place,
    },
    /// The host is in none of the lines.
    Unknown,
    /// The host is known with other keys.
    Changed {
        /// The first line about the host, or its first pin.
        at: Place,
    },
    /// A line refuses the key.
    Revoked {
        /// The line.
        at: Place,
    },
}

/// A line that is skipped, as OpenSSH skips it; the rest of its file counts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: this line is skipped: {reason}")]
pub struct Warning {
    /// The line.
    pub at: Place,
    /// Why it is skipped.
    pub reason: LineError,
}

/// A host or a key that is unfit for a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// The host has letters that a line would read as a pattern or as its end.
    #[error("host {host:?} cannot be a known host: use its name or its address")]
    Host {
        /// The host.
        host: String,
    },
    /// The type of the key is missing.
    #[error("the key of the host has no type")]
    Key,
}

/// An invalid pin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PinError {
    /// Its line is invalid.
    #[error("{at}: {reason}: write a line of a `.pub` file, such as `ssh-ed25519 AAAA…`")]
    Key {
        /// The pin.
        at: Place,
        /// Why it is invalid.
        reason: KeyError,
    },
    /// The host has [`PINS_MAX`] pins already.
    #[error("{at}: a host may have at most {PINS_MAX} pins")]
    Many {
        /// The pin.
        at: Place,
    },
}

/// A line, and its place.
#[derive(Debug)]
struct Entry {
    at: Place,
    line: Line,
}

impl Entry {
    /// Returns whether the line is about the host on this port, or about the bare host.
    fn is_about(&self, host: &str, port: u16) -> bool {
        let hosts = &self.line.hosts;
        hosts.contains(&name::of(host, port))
            || (port != name::PORT && hosts.contains(&name::of(host, name::PORT)))
    }
}

/// The lines of several files, and the pins of hosts.
#[derive(Debug, Default)]
pub struct KnownHosts {
    entries: Vec<Entry>,
    warnings: Vec<Warning>,
    /// By name, keys in wire form.
    pins: BTreeMap<String, Vec<(Place, Vec<u8>)>>,
}

impl KnownHosts {
    /// Reads files, each a name for messages and its bytes, in the order in which they are asked.
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let mut known = Self::default();
        for (file, text) in files {
            let file: Arc<str> = file.into();
            for (number, text) in (1..).zip(text.split(|byte| *byte == b'\n')) {
                let at = || Place { file: Arc::clone(&file), line: number };
                match Line::read(text) {
                    Ok(None) => {}
                    Ok(Some(line)) => known.entries.push(Entry { at: at(), line }),
                    Err(reason) => known.warnings.push(Warning { at: at(), reason }),
                }
            }
        }
        known
    }

    /// Reads the files at `paths`; a missing file is empty.
    ///
    /// # Errors
    ///
    /// One of them exists and is unreadable: [`read`].
    pub fn of_files<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<Self, FileError> {
        let mut files = Vec::new();
        for path in paths {
            files.push((path.display().to_string(), read(path)?));
        }
        Ok(Self::new(files.iter().map(|(name, text)| (name.as_str(), text.as_slice()))))
    }

    /// Pins a host to the public key in `text`, such as `ssh-ed25519 AAAA…`. A comment may follow.
    ///
    /// From then on only pins vouch for the host; files may still revoke a key.
    ///
    /// # Errors
    ///
    /// The text is invalid as a public key, or the host has too many pins.
    pub fn pin(&mut self, host: &str, port: u16, at: Place, text: &str) -> Result<(), PinError> {
        let mut fields = text.split_ascii_whitespace().map(str::as_bytes);
        let (name, text) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        let key = match key::read(name, text) {
            Ok(key) => key,
            Err(reason) => return Err(PinError::Key { at, reason }),
        };
        let pins = self.pins.entry(name::of(host, port)).or_default();
        if pins.len() >= PINS_MAX {
            return Err(PinError::Many { at });
        }
        pins.push((at, key));
        Ok(())
    }

    /// Judges the key, in wire form, that `host` showed on `port`.
    ///
    /// A caller that checks an address as well asks again with it. With a `HostKeyAlias`, the alias and
    /// port 22 take the place of host and port.
    pub fn verdict(&self, host: &str, port: u16, key: &[u8]) -> Verdict {
        if let Some(at) = self.revoked(host, port, key) {
            return Verdict::Revoked { at };
        }
        let full = name::of(host, port);
        let pins = self.pins.get(&full).map(Vec::as_slice).unwrap_or_default();
        if let Some((at, _)) = pins.iter().find(|(_, pin)| pin == key) {
            return Verdict::Known { at: at.clone() };
        }
        if let Some((at, _)) = pins.first() {
            return Verdict::Changed { at: at.clone() };
        }
        let mut other = None;
        for entry in self.about(&full, Marker::Host) {
            if entry.line.key == key {
                return Verdict::Known { at: entry.at.clone() };
            }
            other = other.or(Some(entry));
        }
        if let Some(entry) = other {
            return Verdict::Changed { at: entry.at.clone() };
        }
        let bare = name::of(host, name::PORT);
        let mut vouching = self.about(&bare, Marker::Host).filter(|_| bare != full);
        match vouching.find(|entry| entry.line.key == key) {
            Some(entry) => Verdict::Known { at: entry.at.clone() },
            None => Verdict::Unknown,
        }
    }

    /// Returns the types of key that lines or pins have for the host, such as `ssh-rsa`.
    ///
    /// A client offers these alone, so that a host with a known key shows that key. Nothing means that the
    /// host is unknown by this name: all types may be offered. Lines about the bare host are left out
    /// for another port, since they never deny a key.
    pub fn key_types(&self, host: &str, port: u16) -> BTreeSet<String> {
        let full = name::of(host, port);
        let own = |key: &[u8]| key::type_of(key).map(str::to_owned);
        if let Some(pins) = self.pins.get(&full) {
            return pins.iter().filter_map(|(_, key)| own(key)).collect();
        }
        self.about(&full, Marker::Host).filter_map(|entry| own(&entry.line.key)).collect()
    }

    /// Returns the keys, in wire form, of the authorities that may sign certificates of the host, each
    /// with its line. A host with pins has only its pins.
    ///
    /// A certificate is for its caller to check: signature, time, kind, principal, and with
    /// [`Self::revoked`] its key and its authority.
    pub fn authorities(&self, host: &str, port: u16) -> Vec<(&Place, &[u8])> {
        let full = name::of(host, port);
        if self.pins.contains_key(&full) {
            return Vec::new();
        }
        let lines = self.entries.iter().filter(|entry| entry.line.marker == Marker::Authority);
        let own = lines.filter(|entry| entry.is_about(host, port));
        own.map(|entry| (&entry.at, &*entry.line.key)).collect()
    }

    /// Returns the `@revoked` line that refuses a key of the host: its own, that of its certificate, or
    /// that of an authority.
    pub fn revoked(&self, host: &str, port: u16, key: &[u8]) -> Option<Place> {
        let refuses = |entry: &&Entry| {
            entry.line.marker == Marker::Revoked
                && entry.line.key == key
                && entry.is_about(host, port)
        };
        self.entries.iter().find(refuses).map(|entry| entry.at.clone())
    }

    /// Returns the skipped lines, in order.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    fn about<'a>(&'a self, name: &'a str, marker: Marker) -> impl Iterator<Item = &'a Entry> {
        let lines = self.entries.iter().filter(move |entry| entry.line.marker == marker);
        lines.filter(move |entry| entry.line.hosts.contains(name))
    }
}

/// Returns the line that records a key, in wire form, as that of the host; [`append`] writes it.
///
/// # Errors
///
/// The host has letters other than those of names and addresses, or the key is damaged.
pub fn entry(host: &str, port: u16, key: &[u8]) -> Result<String, EntryError> {
    if !host_name::is_plain(host) {
        return Err(EntryError::Host { host: host.to_owned() });
    }
    let kind = key::type_of(key).ok_or(EntryError::Key)?;
    Ok(format!("{} {kind} {}\n", name::of(host, port), key::text_of(key)))
}
