//! The account of the server: its user, its home and its keys.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The account of the server, from its variables.
#[derive(Debug, Clone, Default)]
pub(crate) struct Account {
    /// The user for hosts without a user.
    pub(crate) user: Option<String>,
    pub(crate) home: Option<PathBuf>,
    /// The socket of an agent with keys.
    pub(crate) agent: Option<PathBuf>,
}

impl Account {
    pub(crate) fn of(variables: &[(OsString, OsString)]) -> Self {
        let value = |wanted: &str| {
            let found = variables.iter().find(|(name, value)| name == wanted && !value.is_empty());
            found.map(|(_, value)| value.clone())
        };
        let text = |wanted: &str| value(wanted).and_then(|value| value.into_string().ok());
        Self {
            user: text("USER").or_else(|| text("LOGNAME")).or_else(of_process),
            home: value("HOME").map(PathBuf::from).filter(|home| home.is_absolute()),
            agent: value("SSH_AUTH_SOCK").map(PathBuf::from),
        }
    }

    /// Returns a path whose `~/` is the home of the account.
    pub(crate) fn path(&self, written: &str) -> PathBuf {
        match (written.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(written),
        }
    }

    /// Returns the key files that a connection tries where no key is named: those of ssh(1) that exist.
    pub(crate) fn default_keys(&self) -> Vec<PathBuf> {
        let Some(home) = &self.home else { return Vec::new() };
        let names = ["id_ed25519", "id_ecdsa", "id_rsa"];
        let files = names.map(|name| home.join(".ssh").join(name));
        files.into_iter().filter(|file: &PathBuf| Path::is_file(file)).collect()
    }
}

/// The accounts of this machine (passwd(5)).
const PASSWD: &str = "/etc/passwd";

/// Returns the name of the user of this process, where no variable has it, as under some service managers.
fn of_process() -> Option<String> {
    let id = rustix::process::getuid().as_raw().to_string();
    let accounts = fs::read_to_string(PASSWD).ok()?;
    let mut lines = accounts.lines().map(|line| line.split(':'));
    let is_own = |line: &std::str::Split<'_, char>| line.clone().nth(2) == Some(id.as_str());
    let name = lines.find(is_own)?.next()?;
    Some(name.to_owned()).filter(|name| !name.is_empty())
}
