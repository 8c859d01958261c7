//! The settings of one host, and why a host is refused.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::place::Place;

/// The settings of a host. Their caller has defaults for absent ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostSettings {
    /// The name or address to connect to, in lower case: the `HostName`, or the alias.
    pub hostname: String,
    /// The user to log in as.
    pub user: Option<String>,
    /// The port.
    pub port: Option<u16>,
    /// The files with private keys, in order; `IdentityFile none` alone is an empty list.
    pub identity_files: Option<Vec<PathBuf>>,
    /// The files with certificates of keys, in order.
    pub certificate_files: Vec<PathBuf>,
    /// Whether an agent may offer only the keys of `identity_files`.
    pub identities_only: Option<bool>,
    /// The agent to ask.
    pub identity_agent: Option<IdentityAgent>,
    /// The hosts to go through, in order; `ProxyJump none` is an empty list. Each is an alias of its own.
    pub proxy_jump: Option<Vec<Jump>>,
    /// The name under which known_hosts files have the host, as if on port 22.
    pub host_key_alias: Option<String>,
    /// The known_hosts files of the user; `none` is an empty list.
    pub user_known_hosts_files: Option<Vec<PathBuf>>,
    /// The known_hosts files of the machine; `none` is an empty list.
    pub global_known_hosts_files: Option<Vec<PathBuf>>,
    /// How unknown and changed host keys are treated.
    pub strict_host_key_checking: Option<HostKeyChecking>,
    /// The longest time for a connection; zero lifts the limit.
    pub connect_timeout: Option<Duration>,
    /// The time between two signs of life; zero turns them off.
    pub server_alive_interval: Option<Duration>,
    /// The most unanswered signs of life.
    pub server_alive_count_max: Option<u32>,
    /// The lines that concern the host and are ignored, with their keywords.
    pub ignored: BTreeMap<Place, &'static str>,
}

/// The values of `StrictHostKeyChecking`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostKeyChecking {
    /// `yes`: only known keys.
    Yes,
    /// `accept-new`: known keys, and any key of an unknown host.
    AcceptNew,
    /// `ask`: a person decides.
    Ask,
    /// `no` and `off`: any key.
    No,
}

/// The values of `IdentityAgent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdentityAgent {
    /// `none`: no agent.
    None,
    /// `SSH_AUTH_SOCK`: that of the environment.
    Environment,
    /// The socket of an agent.
    Socket(PathBuf),
}

/// A host of a `ProxyJump`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jump {
    /// The user, if given.
    pub user: Option<String>,
    /// The host: an alias, a name or an address.
    pub host: String,
    /// The port, if given.
    pub port: Option<u16>,
}

/// A host that is refused: connecting as its lines say would start a program past the policy, or do
/// something else than ssh does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The line; absent if the alias itself or the given user is refused.
    pub at: Option<Place>,
    /// The keyword of the line, or of the given value.
    pub keyword: String,
    /// Why, and how to correct it.
    pub reason: Reason,
}

impl std::error::Error for Refused {}

impl std::fmt::Display for Refused {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(at) = &self.at {
            write!(out, "{at}: ")?;
        }
        write!(out, "`{}` {}", self.keyword, self.reason)
    }
}

/// Reasons why a host is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// It starts a program.
    #[error(
        "starts a program, which no policy sees: use `ProxyJump`, or set it to `none` for this host"
    )]
    Program,
    /// It loads a library.
    #[error("loads a library: set it to `none` for this host")]
    Library,
    /// `PermitLocalCommand yes` lets it start a program.
    #[error("starts a program, which no policy sees: set `PermitLocalCommand no` for this host")]
    LocalCommand,
    /// It rewrites host names by DNS.
    #[error("rewrites the name of the host by DNS: write the full name in `HostName`")]
    Canonical,
    /// It forbids login by key.
    #[error("forbids login by key, and relay has no other: allow it for this host")]
    KeysAlone,
    /// It refuses the host.
    #[error("refuses the host")]
    Refuses,
    /// It names a file of revoked keys, which only ssh reads.
    #[error("is not read: write `@revoked * KEY` lines in a known_hosts file, or set it to `none`")]
    RevokedFile,
    /// A `Match` depends on something else than hosts and users.
    #[error("is not supported, and the host could match: use `host`, `originalhost` or `user`")]
    Criterion,
    /// An unknown keyword, which an `IgnoreUnknown` of other hosts covers.
    #[error("is an unknown keyword: move its `IgnoreUnknown` above the first `Host`")]
    Unknown,
    /// A `%` is followed by an unsupported letter.
    #[error(
        "has an unsupported token: only %%, %d, %h, %k, %n, %r and %u are, and in `HostName` %% and %h"
    )]
    Token,
    /// It names a variable of the environment.
    #[error("names a variable of the environment: write its value")]
    Variable,
    /// A token stands for a text with a slash.
    #[error("has a token whose value holds a slash: write the path without it")]
    Slash,
    /// A path depends on the folder of the process, or on another user.
    #[error("has a relative path: write an absolute one, or one below `~/`")]
    Relative,
    /// It has too many values.
    #[error("has too many values: remove some")]
    Many,
    /// It is invalid as a name or an address.
    #[error(
        "is no plain host name or address: use letters, digits, `-`, `.`, `_`, and `:` in addresses"
    )]
    HostName,
    /// It is invalid as the name of a user.
    #[error("is no plain user name: use letters and digits")]
    User,
}
