//! Host settings from an inventory: a JSON object of aliases, as relay-shell reads it.
//!
//! ```json
//! {"web": {"hostname": "web.example.org", "user": "deploy", "port": 2222, "jump": "bastion"}}
//! ```
//!
//! Every member is optional; `host`, `identityfile` and `proxyjump` are other names of `hostname`,
//! `identity_file` and `jump`. A fault refuses the whole file, with its line and column.

mod member;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::{Deserializer as _, Error as _, MapAccess, Visitor};

use self::member::{Alias, Member, MemberObject};
use crate::config::Jump;
use crate::text_file;

pub use self::member::KnownHostsRule;

/// The most bytes of an inventory.
pub const BYTES_MAX: usize = 4 << 20;

/// The most hosts of an inventory.
pub const HOSTS_MAX: usize = 10_000;

/// The settings of a host, as far as the inventory gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InventoryHost {
    /// The name or address to connect to, in place of the alias.
    pub hostname: Option<String>,
    /// The user to log in as.
    pub user: Option<String>,
    /// The port.
    pub port: Option<u16>,
    /// The file with the private key.
    pub identity_file: Option<PathBuf>,
    /// The hosts to go through, in order; `none` is an empty list. Each is an alias of its own.
    pub jump: Option<Vec<Jump>>,
    /// How host keys are checked.
    pub known_hosts: Option<KnownHostsRule>,
}

/// A fault that refuses an inventory.
#[derive(Debug, thiserror::Error)]
pub enum InventoryError {
    /// Reading the file failed.
    #[error("inventory `{}` cannot be read: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Its text is invalid.
    #[error("{file}:{line}:{column}: {reason}: correct the inventory")]
    Text {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column in bytes, from 1, of the end of the fault.
        column: usize,
        /// The fault.
        reason: String,
    },
}

/// The hosts of an inventory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    hosts: BTreeMap<String, InventoryHost>,
}

impl Inventory {
    /// Reads the inventory at `path`; `home` is the absolute path of the folder of `~`.
    ///
    /// # Errors
    ///
    /// The file is missing or unreadable, or its text is invalid.
    pub fn read(path: &Path, home: &str) -> Result<Self, InventoryError> {
        let text = text_file::read(path, BYTES_MAX)
            .and_then(|text| text.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound)));
        let fault = |source| InventoryError::File { path: path.to_owned(), source };
        Self::of_text(&path.display().to_string(), &text.map_err(fault)?, home)
    }

    /// Reads the text of an inventory; messages call it `file`.
    ///
    /// # Errors
    ///
    /// It is invalid JSON, has an unknown member, a value of another kind, one alias twice, or over
    /// [`HOSTS_MAX`] hosts.
    pub fn of_text(file: &str, text: &[u8], home: &str) -> Result<Self, InventoryError> {
        let mut json = serde_json::Deserializer::from_slice(text);
        let hosts = json.deserialize_map(Hosts { home }).and_then(|hosts| {
            json.end()?;
            Ok(hosts)
        });
        let hosts = hosts.map_err(|error| {
            let (line, column) = (error.line().max(1), error.column().max(1));
            let reason = error.to_string();
            // The place comes first here.
            let at = format!(" at line {} column {}", error.line(), error.column());
            let reason = reason.strip_suffix(&at).unwrap_or(&reason).to_owned();
            InventoryError::Text { file: file.to_owned(), line, column, reason }
        })?;
        Ok(Self { hosts })
    }

    /// Returns the settings of an alias.
    pub fn host(&self, alias: &str) -> Option<&InventoryHost> {
        self.hosts.get(alias)
    }

    /// Returns all aliases, in order of their letters.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        self.hosts.keys().map(String::as_str)
    }
}

/// Reads an object of hosts.
struct Hosts<'a> {
    home: &'a str,
}

impl<'de> Visitor<'de> for Hosts<'_> {
    type Value = BTreeMap<String, InventoryHost>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object of aliases, each with an object of settings")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut hosts = BTreeMap::new();
        while let Some(Alias(alias)) = map.next_key()? {
            if hosts.contains_key(&alias) {
                return Err(A::Error::custom(format!("the alias `{alias}` is there twice")));
            }
            if hosts.len() == HOSTS_MAX {
                return Err(A::Error::custom(format!("over {HOSTS_MAX} hosts")));
            }
            let MemberObject(member) = map.next_value()?;
            let Member { hostname, user, port, identity_file, jump, known_hosts } = member;
            let host = InventoryHost {
                hostname: hostname.map(|name| name.0),
                user: user.map(|user| user.0),
                port: port.map(|port| port.0),
                identity_file: identity_file.map(|path| path.below(self.home)),
                jump: jump.map(|jumps| jumps.0),
                known_hosts,
            };
            hosts.insert(alias, host);
        }
        Ok(hosts)
    }
}
