//! Hosts for a server under test: the SSH server of relay-ssh's own tests, and the keys of both ends.

#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "../../runtime/ssh/tests/ssh/files.rs"]
mod files;
#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "../../runtime/ssh/tests/ssh/server.rs"]
mod server;

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;

use russh::keys::key::safe_rng;
use russh::keys::ssh_key::LineEnding;
use russh::keys::{Algorithm, PrivateKey};
use tokio::runtime::{Builder, Runtime};

use super::house::House;
pub(super) use server::{Settings, USER};

/// A host that is up. It ends with its test.
pub(super) struct Host {
    server: server::Server,
    key: PrivateKey,
    user_key: PrivateKey,
    _runtime: Runtime,
}

impl Host {
    pub(super) fn start() -> Self {
        Self::with(|_| {})
    }

    pub(super) fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let (key, user_key) = (ed25519(), ed25519());
        let mut settings = Settings {
            host_keys: vec![key.clone()],
            authorized: vec![user_key.public_key().key_data().clone()],
            ..Settings::default()
        };
        change(&mut settings);
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(server::Server::start(settings));
        Self { server, key, user_key, _runtime: runtime }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.server.address
    }

    /// Its key, as a pin of a project.
    pub(super) fn pin(&self) -> String {
        public(&self.key)
    }

    /// The commands that it was asked to run.
    pub(super) fn commands(&self) -> Vec<String> {
        self.server.commands()
    }

    /// How often a user logged in.
    pub(super) fn logins(&self) -> usize {
        self.server.logins()
    }

    /// The connections that are open.
    pub(super) fn open_connections(&self) -> usize {
        self.server.open_connections()
    }

    /// Puts the key of its user into the home of a house.
    pub(super) fn admit(&self, house: &House) {
        let folder = house.path("home/.ssh");
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("id_ed25519");
        fs::write(&file, self.user_key.to_openssh(LineEnding::LF).unwrap().as_bytes()).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

/// A key that no host has, as a pin of a project.
pub(super) fn other_pin() -> String {
    public(&ed25519())
}

fn ed25519() -> PrivateKey {
    PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).unwrap()
}

/// Returns the kind and the key, without a comment.
fn public(key: &PrivateKey) -> String {
    let line = key.public_key().to_openssh().unwrap();
    line.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
}
