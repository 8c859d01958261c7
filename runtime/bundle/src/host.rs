//! The hosts that a project knows.

use serde::{Deserialize, Serialize};

use crate::place::Place;
use crate::setting::Setting;

/// The hosts that a project knows, and how connections to them are checked; a bundle of a project
/// without `hosts` has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Hosts {
    /// The check of host keys, for hosts that set none.
    pub known_hosts: Setting<KnownHosts>,
    /// Whether hosts outside the project may be reached.
    pub outside: Setting<Outside>,
    /// Whether a call may ask for a weaker check of host keys.
    pub weaken: Setting<bool>,
    /// The hosts, sorted by alias, aliases unique.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<Host>,
    /// Where the project declares them.
    pub at: Place,
}

/// A host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// The name that calls and rules use.
    pub alias: String,
    /// The name or literal address to connect to, in one spelling; absent for the alias.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Setting<String>>,
    /// The user to log in as; absent for that of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Setting<String>>,
    /// The port.
    pub port: Setting<u32>,
    /// The alias of the host through which it is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jump: Option<Setting<String>>,
    /// The file of the private key, on the server; absent for the keys of the server's user and its agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Setting<String>>,
    /// The check of its host key; absent for that of all hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_hosts: Option<Setting<KnownHosts>>,
    /// The groups that it is in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Setting<String>>,
    /// Its host keys, as `ssh-ed25519 AAAA…`. With any, no other key is trusted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<Setting<String>>,
    /// Where the project declares it.
    pub at: Place,
}

/// The check of a host key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum KnownHosts {
    /// Any key is trusted.
    Ignore,
    /// The key of a host that has none yet is trusted and remembered.
    AcceptNew,
    /// Only keys that are known are trusted.
    Strict,
}

/// The answer to a call about a host outside the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Outside {
    /// It is refused.
    Refuse,
    /// The policy decides.
    Permit,
}

impl KnownHosts {
    /// Returns its word in a project.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ignore => "ignore",
            Self::AcceptNew => "accept-new",
            Self::Strict => "strict",
        }
    }
}

impl Outside {
    /// Returns its word in a project.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Permit => "permit",
        }
    }
}
