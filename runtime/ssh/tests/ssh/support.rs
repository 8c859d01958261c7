//! Keys, routes and waits of the tests.

use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use relay_ssh::{
    Command, Hop, HostKeyMode, HostKeyVerdict, HostKeys, Identity, Limits, Pool, Route,
};
use russh::keys::key::safe_rng;
use russh::keys::ssh_key::LineEnding;
use russh::keys::{Algorithm, HashAlg, PrivateKey};
use tempfile::TempDir;

use crate::server::{Server, Settings, USER};

/// The trusted, revoked and certifying keys of a test.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) trusted: Mutex<Vec<Vec<u8>>>,
    pub(crate) revoked: Vec<Vec<u8>>,
    pub(crate) authorities: Vec<Vec<u8>>,
    pub(crate) algorithms: Vec<String>,
}

impl HostKeys for Known {
    fn rule(&self) -> String {
        format!("{:?} {:?} {:?}", self.revoked, self.authorities, self.algorithms)
    }

    fn algorithms(&self) -> Vec<String> {
        self.algorithms.clone()
    }

    fn authorities(&self) -> Vec<Vec<u8>> {
        self.authorities.clone()
    }

    fn verdict(&self, key: &[u8]) -> HostKeyVerdict {
        let trusted = self.trusted.lock().unwrap();
        if self.revoked.iter().any(|held| held == key) {
            HostKeyVerdict::Revoked { at: "known_hosts:7".to_owned() }
        } else if trusted.iter().any(|held| held == key) {
            HostKeyVerdict::Trusted
        } else if trusted.is_empty() {
            HostKeyVerdict::Unknown
        } else {
            HostKeyVerdict::Changed { at: "known_hosts:3".to_owned() }
        }
    }

    fn learn(&self, key: &[u8]) -> io::Result<()> {
        self.trusted.lock().unwrap().push(key.to_vec());
        Ok(())
    }
}

impl Known {
    pub(crate) fn keys(keys: &[&PrivateKey]) -> Self {
        Self { trusted: Mutex::new(keys.iter().map(|key| blob(key)).collect()), ..Self::default() }
    }
}

/// A server that is up, the key that may log in, and the folder of its file.
pub(crate) struct Scene {
    pub(crate) server: Server,
    pub(crate) host_key: PrivateKey,
    pub(crate) user_key: PrivateKey,
    pub(crate) key_path: PathBuf,
    pub(crate) folder: TempDir,
}

impl Scene {
    pub(crate) async fn start() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        Self::with_user_key(ed25519(), change).await
    }

    pub(crate) async fn with_user_key(
        user_key: PrivateKey,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let host_key = ed25519();
        let mut settings = Settings {
            host_keys: vec![host_key.clone()],
            authorized: vec![user_key.public_key().key_data().clone()],
            ..Settings::default()
        };
        change(&mut settings);
        let folder = tempfile::tempdir().unwrap();
        let key_path = write_key(folder.path(), "id", &user_key);
        Self { server: Server::start(settings).await, host_key, user_key, key_path, folder }
    }

    /// Returns a hop to the server that trusts its key.
    pub(crate) fn hop(&self) -> Hop {
        self.hop_at(self.server.address)
    }

    pub(crate) fn hop_at(&self, address: SocketAddr) -> Hop {
        Hop {
            alias: "web".to_owned(),
            address: address.ip().to_string(),
            port: address.port(),
            user: USER.to_owned(),
            identities: vec![Identity { key: self.key_path.clone(), certificate: None }],
            identities_only: false,
            agent: None,
            known_as: "web.example".to_owned(),
            trust: Arc::new(Known::keys(&[&self.host_key])),
            mode: HostKeyMode::Strict,
        }
    }

    pub(crate) fn route(&self) -> Route {
        Route { hops: vec![self.hop()] }
    }
}

pub(crate) fn ed25519() -> PrivateKey {
    PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).unwrap()
}

pub(crate) fn rsa() -> PrivateKey {
    PrivateKey::random(&mut safe_rng(), Algorithm::Rsa { hash: Some(HashAlg::Sha512) }).unwrap()
}

pub(crate) fn blob(key: &PrivateKey) -> Vec<u8> {
    key.public_key().to_bytes().unwrap()
}

pub(crate) fn write_key(folder: &Path, name: &str, key: &PrivateKey) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, key.to_openssh(LineEnding::LF).unwrap().as_bytes()).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path
}

/// Limits that are short where a test waits for them.
pub(crate) fn limits() -> Limits {
    Limits { connect: Duration::from_secs(20), ..Limits::default() }
}

/// Limits by which a silent peer is lost after about half a second.
pub(crate) fn impatient() -> Limits {
    Limits { keepalive: Duration::from_millis(150), keepalive_misses: 2, ..limits() }
}

pub(crate) fn pool() -> Pool {
    Pool::new(limits())
}

pub(crate) fn command(text: &str) -> Command {
    Command {
        text: text.as_bytes().to_vec(),
        input: Vec::new(),
        merge: false,
        output_bytes_max: 64 * 1024,
        timeout: Duration::from_secs(60),
        terminal: false,
    }
}

pub(crate) async fn never() {
    std::future::pending().await
}

/// Waits until `done` is true, at most 20 s.
pub(crate) async fn until(what: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..1000 {
        if done() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{what}");
}
