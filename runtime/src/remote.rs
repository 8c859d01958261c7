//! Other hosts: the way to each, whose keys prove them, and the connections that calls share.

mod known;
mod route;
mod trust;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use relay_ssh::{Limits, Pool};

pub(crate) use self::route::Ask;

use self::known::Known;
use crate::settings::config::Ssh as Settings;

/// Other hosts, and the connections to them.
pub(crate) struct Remote {
    pub(crate) pool: Pool,
    pub(crate) limits: Limits,
    known: Known,
    account: Account,
}

/// The account of the server, from its variables.
#[derive(Debug, Default)]
struct Account {
    /// The user for hosts whose user nobody sets.
    user: Option<String>,
    home: Option<PathBuf>,
    /// The socket of an agent with keys.
    agent: Option<PathBuf>,
}

impl Account {
    fn of(variables: &[(OsString, OsString)]) -> Self {
        let value = |wanted: &str| {
            let found = variables.iter().find(|(name, value)| name == wanted && !value.is_empty());
            found.map(|(_, value)| value.clone())
        };
        let text = |wanted: &str| value(wanted).and_then(|value| value.into_string().ok());
        Self {
            user: text("USER").or_else(|| text("LOGNAME")),
            home: value("HOME").map(PathBuf::from).filter(|home| home.is_absolute()),
            agent: value("SSH_AUTH_SOCK").map(PathBuf::from),
        }
    }

    /// Returns a path whose `~/` is the home of the account.
    fn path(&self, written: &str) -> PathBuf {
        match (written.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(written),
        }
    }
}

impl Remote {
    /// Returns the state of a server with these settings and variables.
    pub(crate) fn new(settings: &Settings, variables: &[(OsString, OsString)]) -> Self {
        let limits = Limits {
            connect: Duration::from_secs(settings.connect_s_max.get().into()),
            idle: Duration::from_secs(settings.idle_s_max.get().into()),
            connections_max: settings.connections_max.get(),
            ..Limits::default()
        };
        let account = Account::of(variables);
        let files = match &settings.known_hosts {
            Some(files) => files.clone(),
            None => {
                let own = account.home.iter().map(|home| home.join(".ssh/known_hosts"));
                own.chain([PathBuf::from("/etc/ssh/ssh_known_hosts")]).collect()
            }
        };
        Self { pool: Pool::new(limits.clone()), limits, known: Known::new(files), account }
    }

    /// Returns the key files that a connection tries where no key is named: those of ssh(1) that exist.
    fn default_keys(&self) -> Vec<PathBuf> {
        let Some(home) = &self.account.home else { return Vec::new() };
        let names = ["id_ed25519", "id_ecdsa", "id_rsa"];
        let files = names.map(|name| home.join(".ssh").join(name));
        files.into_iter().filter(|file: &PathBuf| Path::is_file(file)).collect()
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pool, limits: _, known, account: _ } = self;
        let connections = pool.connections();
        out.debug_struct("Remote").field("connections", &connections).field("known", known).finish()
    }
}
