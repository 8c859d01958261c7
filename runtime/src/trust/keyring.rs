//! The keys that seal the handles of briefings: from files, or a random one of this process.
//!
//! The first key seals, each of them opens. So a key can be replaced while handles stay valid: add
//! the new one as the second on every server, then move it to the first place, then drop the old
//! one.

use std::fs::Metadata;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::{ArcSwap, Guard};
use relay_engine::handle::{Key, SECRET_BYTES};
use relay_engine::system_error::reason;
use relay_machine::file::regular_file;
use ring::rand::{SecureRandom as _, SystemRandom};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::settings::Settings;
use crate::settings::args::Transport;
use crate::settings::config;

/// The most bytes that are read of a key file; a valid one has fewer.
const FILE_BYTES_MAX: usize = 1024;

/// The keys in force.
#[derive(Debug)]
pub(crate) struct Keyring {
    lifetime_min: u32,
    /// Whether the keys are from files, rather than a random one of this process.
    has_files: bool,
    keys: ArcSwap<Keys>,
    transport: Transport,
    has_warned: AtomicBool,
}

/// The keys that seal and open, read at one time.
#[derive(Debug)]
pub(crate) struct Keys {
    seal: Key,
    /// INVARIANT: the first one is the key that seals.
    open: Vec<Key>,
}

/// An error in the keys.
#[derive(Debug, Error)]
pub(crate) enum KeyringError {
    #[error(
        "cannot read the key file `{}` of briefing.keys: {}; make one with (umask 077; openssl rand -hex 32 > {})",
        path.display(),
        reason(source),
        path.display()
    )]
    Read { path: PathBuf, source: io::Error },
    #[error(
        "the key file `{}` of briefing.keys does not hold 64 hexadecimal digits and nothing else: make one with (umask 077; openssl rand -hex 32 > {})",
        path.display(),
        path.display()
    )]
    Contents { path: PathBuf },
    #[error("briefing.keys is empty: add a key, or remove it to use a random key of this process")]
    Empty,
    #[error(
        "the system provides no random numbers for a key: name a key file in [[briefing.keys]]"
    )]
    Random,
}

impl Keyring {
    /// Reads the keys, or creates one by default.
    pub(crate) fn new(settings: &Settings) -> Result<Self, KeyringError> {
        let config::Briefing { lifetime_min, keys: files } = settings.briefing.clone();
        let keys = files.as_deref().map_or_else(own, read)?;
        Ok(Self {
            lifetime_min: lifetime_min.get(),
            has_files: files.is_some(),
            keys: ArcSwap::from_pointee(keys),
            transport: settings.transport,
            has_warned: AtomicBool::new(false),
        })
    }

    /// Reads the keys of `briefing`. If they are missing or invalid, the old keys stay in force. A
    /// random key of this process is kept.
    pub(crate) fn reload(&self, briefing: &config::Briefing) {
        match briefing.keys.as_deref().filter(|_| self.has_files).map(read) {
            None => {}
            Some(Ok(keys)) => self.keys.store(Arc::new(keys)),
            Some(Err(error)) => tracing::error!("{error}; the keys read before stay in force"),
        }
    }

    /// Logs once that handles end with this process, if its key is random and a gate exists.
    pub(crate) fn warn_of_own_key(&self, has_gate: bool) {
        if self.has_files || !has_gate || self.has_warned.swap(true, Ordering::Relaxed) {
            return;
        }
        let text = "no [[briefing.keys]] are configured: the handles of briefings end with this process, and no other replica accepts them";
        match self.transport {
            Transport::Stdio => tracing::info!("{text}"),
            Transport::Http(_) => tracing::warn!("{text}"),
        }
    }

    /// Returns the keys in force. A request takes them once and uses only these.
    pub(crate) fn keys(&self) -> Guard<Arc<Keys>> {
        self.keys.load()
    }

    /// Returns the lifetime of a handle in minutes.
    pub(crate) fn lifetime_min(&self) -> u32 {
        self.lifetime_min
    }
}

impl Keys {
    /// Returns the key that seals.
    pub(crate) fn seal(&self) -> &Key {
        &self.seal
    }

    /// Returns the keys that open.
    pub(crate) fn open(&self) -> &[Key] {
        &self.open
    }
}

fn read(files: &[config::BriefingKey]) -> Result<Keys, KeyringError> {
    let open: Vec<Key> = files
        .iter()
        .map(|config::BriefingKey { id, key_file }| Ok(Key::new(*id, read_secret(key_file)?)))
        .collect::<Result<_, _>>()?;
    let seal = open.first().ok_or(KeyringError::Empty)?.clone();
    Ok(Keys { seal, open })
}

/// Creates a random key of this process. Its id is random too, so that another process recognizes
/// it as unknown.
fn own() -> Result<Keys, KeyringError> {
    let mut bytes = Zeroizing::new([0; 1 + SECRET_BYTES]);
    SystemRandom::new().fill(&mut *bytes).map_err(|_| KeyringError::Random)?;
    let [id, secret @ ..] = *bytes;
    let seal = Key::new(id, secret);
    Ok(Keys { open: vec![seal.clone()], seal })
}

fn read_secret(path: &Path) -> Result<[u8; SECRET_BYTES], KeyringError> {
    let unreadable = |source| KeyringError::Read { path: path.to_owned(), source };
    let file = regular_file::open(path).map_err(unreadable)?;
    warn_if_open_to_others(path, &file.metadata().map_err(unreadable)?);
    // The buffer keeps its size, so memory holds a single copy of the secret.
    let mut text = Zeroizing::new(Vec::with_capacity(FILE_BYTES_MAX + 1));
    file.take(FILE_BYTES_MAX as u64).read_to_end(&mut text).map_err(unreadable)?;
    secret(text.trim_ascii()).ok_or_else(|| KeyringError::Contents { path: path.to_owned() })
}

fn warn_if_open_to_others(path: &Path, metadata: &Metadata) {
    if metadata.permissions().mode() & 0o077 != 0 {
        let path = path.display();
        tracing::warn!(
            "the key file `{path}` is accessible to other users than its owner: chmod 600 {path}"
        );
    }
}

fn secret(digits: &[u8]) -> Option<[u8; SECRET_BYTES]> {
    let mut secret = [0; SECRET_BYTES];
    let read = base16ct::mixed::decode(digits, &mut secret).ok()?.len();
    (read == SECRET_BYTES).then_some(secret)
}
