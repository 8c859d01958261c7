//! `server.toml`: settings local to one server, and therefore outside of bundles.
//!
//! The declarations are also the reference: `reference.rs` prints the name, the type, the range,
//! the default and the comment of each field.

mod auth;
mod key_url;
mod within;

use std::io;
use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

use relay_engine::system_error::reason;
use relay_engine::toml_fault::{self, TomlFault};
use relay_engine::tool;
use relay_machine::file::text_file;
use relay_machine::file::toml_text::{self, TableHint};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

pub(crate) use self::auth::{Algorithm, ApiKey, Auth, AuthError, Dpop, Jwt, KeyPlace, UrlParts};
pub(crate) use self::key_url::KeyUrl;
pub(crate) use self::within::Within;

use crate::caller::principal::Principal;

/// The tables by the names of their types, and the lines that a person writes.
const TABLES: [TableHint; 8] = [
    (
        "struct ApiKey",
        "a table: write `[[auth.api-keys]]` on a line of its own, then id, sha256 and principal; `relay keygen --api-key ID` prints them",
    ),
    (
        "struct Jwt",
        "a table: write `[[auth.jwt]]` on a line of its own, then issuer, audience, algorithms and its keys",
    ),
    (
        "struct BriefingKey",
        "a table: write `[[briefing.keys]]` on a line of its own, then id and key-file",
    ),
    (
        "[[auth.api-keys]]",
        "tables: write `[[auth.api-keys]]` on a line of its own for each key, then id, sha256 and principal; `relay keygen --api-key ID` prints them",
    ),
    (
        "[[auth.jwt]]",
        "tables: write `[[auth.jwt]]` on a line of its own for each issuer, then issuer, audience, algorithms and its keys",
    ),
    (
        "[[briefing.keys]]",
        "tables: write `[[briefing.keys]]` on a line of its own for each key, then id and key-file",
    ),
    ("struct Auth", "a table: write `[auth]` on a line of its own, then its keys"),
    ("struct Tls", "a table: write `[tls]` on a line of its own, then cert and key"),
];

/// The contents of `server.toml`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Config {
    /// The address to listen on, such as `127.0.0.1:8700`. Unset: standard input and output, unless
    /// `--http` is given. Any other than a loopback address needs `auth`.
    #[schemars(extend("format" = "address"))]
    pub(crate) listen: Option<SocketAddr>,
    /// Names that the `Host` of a request may have; a port is optional. Unset: the loopback names,
    /// and the address that the server listens on.
    pub(crate) allowed_hosts: Option<Vec<String>>,
    /// Origins of pages that may send requests, such as `https://app.example.com` or
    /// `http://localhost:*`. Unset: loopback origins.
    pub(crate) allowed_origins: Option<Vec<String>>,
    /// The trust file: whose signatures count. Unset: only this user's dev key, and only on stdio
    /// and loopback.
    #[schemars(extend("format" = "path"))]
    pub(crate) trust: Option<PathBuf>,
    /// The folder for the private copies of 8 bundles and for the highest epoch that was served, below
    /// which bundles are refused. Unset: the copies are in `relay/bundles` in `$XDG_CACHE_HOME`, or
    /// in `~/.cache`, else in memory, and a restart forgets the epoch.
    #[schemars(extend("format" = "path"))]
    pub(crate) state: Option<PathBuf>,
    /// The caller, unless authentication names one.
    pub(crate) principal: Option<Principal>,
    /// TLS on the listening address. Unset: connections are unencrypted.
    pub(crate) tls: Option<Tls>,
    /// The audit file: one JSON line for each tool call, prompt fetch and resource read.
    pub(crate) audit: Audit,
    /// Who may send requests over HTTP. Unset: any client that can connect may, and only loopback
    /// addresses are allowed.
    pub(crate) auth: Option<Auth>,
    /// The handles of briefings.
    pub(crate) briefing: Briefing,
    /// The metrics at `/metrics`, in the text format of Prometheus.
    pub(crate) metrics: Metrics,
    /// Limits, each with its unit in its name. Each is 1 or more.
    pub(crate) limits: Limits,
    /// The processes that tools start. The bundle's own `limits` hold too: the lower number counts.
    pub(crate) processes: Processes,
    /// Connections to other hosts.
    pub(crate) ssh: Ssh,
    /// How the server detects a new bundle. SIGHUP always reloads.
    pub(crate) watch: Watch,
}

/// Certificate and key of the listening address, as PEM files.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Tls {
    /// The certificate, followed by its chain to a root; read again on SIGHUP.
    #[schemars(with = "PathBuf", extend("format" = "path"))]
    pub(crate) cert: PlacedPath,
    /// Its private key; read again on SIGHUP.
    #[schemars(with = "PathBuf", extend("format" = "path"))]
    pub(crate) key: PlacedPath,
}

/// A path, and the place in the file where it is written.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "toml::Spanned<PathBuf>")]
pub(crate) struct PlacedPath {
    pub(crate) path: PathBuf,
    /// Where it begins, in bytes.
    start: usize,
    /// The file with line and column, for people.
    pub(crate) place: String,
}

impl From<toml::Spanned<PathBuf>> for PlacedPath {
    fn from(path: toml::Spanned<PathBuf>) -> Self {
        let start = path.span().start;
        Self { path: path.into_inner(), start, place: String::new() }
    }
}

impl PlacedPath {
    /// Returns the name of the file that it is written in.
    pub(crate) fn file(&self) -> &str {
        self.place.split(':').next().unwrap_or_default()
    }

    fn place_in(&mut self, file: &Path, text: &str) {
        let (line, column) = toml_fault::place(text, self.start);
        self.place = format!("{}:{line}:{column}", file.display());
    }
}

/// The audit file.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Audit {
    /// The file to append to; `none` keeps no record. Unset: `relay/audit.jsonl` in
    /// `$XDG_STATE_HOME`, or in `~/.local/state`.
    #[schemars(extend("format" = "path"))]
    pub(crate) path: Option<PathBuf>,
    /// When records are on the disk: `always` before their answer is sent, `interval` within a
    /// second, `os` when the system writes them. Only a failure of the machine loses records before.
    pub(crate) durable: Durable,
    /// Whether a call of tier 2 or 3 runs if its record cannot be written: `refuse` denies it, `degrade`
    /// runs it, and the lost records are counted. Other calls run in any case.
    pub(crate) on_failure: OnFailure,
    /// A signed checkpoint is written after so many records of this server; 0 for none by number.
    /// Unset: 1000. Set, the server starts only with a folder for the key.
    pub(crate) checkpoint_records: Option<u32>,
    /// A signed checkpoint is written so long after a record at the latest, in seconds; 0 for none by
    /// time. Unset: 60. Set, the server starts only with a folder for the key.
    pub(crate) checkpoint_s: Option<u32>,
}

/// When records are on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Durable {
    /// Before their answers are sent.
    Always,
    /// Within a second.
    #[default]
    Interval,
    /// When the system writes them.
    Os,
}

/// The answer to a call of tier 2 or 3 whose record cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OnFailure {
    /// It is refused.
    #[default]
    Refuse,
    /// It runs, and the lost records are counted.
    Degrade,
}

impl Audit {
    /// The path that switches the audit off.
    pub(crate) const NONE: &str = "none";
    /// The records and the seconds of a checkpoint by default.
    pub(crate) const CHECKPOINT_RECORDS: u32 = 1000;
    pub(crate) const CHECKPOINT_S: u32 = 60;
}

/// The handles of briefings.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Briefing {
    /// How long a handle is valid, at most 30 days.
    pub(crate) lifetime_min: Within<1, 43_200>,
    /// The keys of handles, the same on every replica: the first one seals, each of them opens.
    /// Unset: a random key, so handles become invalid when the process ends.
    #[schemars(with = "Option<Vec<BriefingKey>>")]
    #[serde(deserialize_with = "briefing_keys")]
    pub(crate) keys: Option<Vec<BriefingKey>>,
}

fn briefing_keys<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<BriefingKey>>, D::Error> {
    auth::tables("[[briefing.keys]]", deserializer).map(Some)
}

impl Default for Briefing {
    fn default() -> Self {
        Self { lifetime_min: const { Within::new(720).unwrap() }, keys: None }
    }
}

/// A key for handles.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct BriefingKey {
    /// The number by which a handle names its key.
    #[serde(deserialize_with = "key_id")]
    pub(crate) id: u8,
    /// The file with the key: 64 hexadecimal digits, as `openssl rand -hex 32` prints them. Read
    /// again on SIGHUP.
    #[schemars(extend("format" = "path"))]
    pub(crate) key_file: PathBuf,
}

/// The metrics at `/metrics`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Metrics {
    /// Who may read them: `authenticated` means who may send requests, so without `auth` anyone who
    /// can connect. Unset: `authenticated` on a loopback address, and `off` on any other.
    pub(crate) access: Option<MetricsAccess>,
}

/// Who may read the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MetricsAccess {
    Off,
    Authenticated,
    Anyone,
}

/// Connections to other hosts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Ssh {
    /// A file of ssh_config(5) whose hosts are added to those of a project. It is read at the start.
    pub(crate) config: Option<PathBuf>,
    /// A JSON file of hosts that are added likewise; they come before those of `config`.
    pub(crate) inventory: Option<PathBuf>,
    /// The files with the keys of known hosts; the first one learns those of new hosts. Unset:
    /// `~/.ssh/known_hosts` and `/etc/ssh/ssh_known_hosts`.
    pub(crate) known_hosts: Option<Vec<PathBuf>>,
    /// The time within which a host must be reached and logged in to.
    pub(crate) connect_s_max: Within<1, 120>,
    /// The idle time after which a connection is closed.
    pub(crate) idle_s_max: NonZeroU32,
    /// Connections at once; the one that is idle longest makes room for one more.
    pub(crate) connections_max: NonZeroUsize,
    /// Forwards of one caller; each has a connection of its own.
    pub(crate) principal_forwards_max: NonZeroUsize,
}

impl Default for Ssh {
    fn default() -> Self {
        Self {
            config: None,
            inventory: None,
            known_hosts: None,
            connect_s_max: const { Within::new(10).unwrap() },
            idle_s_max: const { NonZeroU32::new(1800).unwrap() },
            connections_max: const { NonZeroUsize::new(256).unwrap() },
            principal_forwards_max: const { NonZeroUsize::new(16).unwrap() },
        }
    }
}

/// How the server detects a replaced bundle.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Watch {
    /// The interval at which the path of the bundle is checked; 0 means only on SIGHUP.
    pub(crate) poll_ms: u64,
}

impl Default for Watch {
    fn default() -> Self {
        Self { poll_ms: 500 }
    }
}

/// The processes that tools start.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Processes {
    /// Commands of all callers that run at once; one more waits 5 seconds at most.
    pub(crate) running_max: NonZeroUsize,
    /// Commands of one caller that run at once; one more waits likewise.
    pub(crate) principal_running_max: NonZeroUsize,
    /// The longest time limit of a call.
    pub(crate) timeout_s_max: Option<NonZeroU32>,
    /// The most bytes of output that a call gets.
    pub(crate) output_bytes_max: Option<NonZeroU32>,
    /// The most bytes of text in the arguments of a call.
    pub(crate) input_bytes_max: Option<NonZeroU32>,
    /// The most sessions of all callers.
    pub(crate) sessions_max: Option<NonZeroU32>,
    /// Sessions of one caller.
    pub(crate) principal_sessions_max: NonZeroUsize,
    /// Whether some system calls of commands and sessions are recorded as they run. Needs a server that
    /// is built with the feature `seccomp`, Linux 5.9 on x86-64 or aarch64, and CAP_SYS_ADMIN; others log
    /// why they run processes unobserved.
    pub(crate) observe_syscalls: bool,
    /// The most system calls that are recorded of one call or session. One more record says that there
    /// were more.
    pub(crate) observed_syscalls_max: Within<1, 65_536>,
}

impl Default for Processes {
    fn default() -> Self {
        Self {
            running_max: const { NonZeroUsize::new(64).unwrap() },
            principal_running_max: const { NonZeroUsize::new(16).unwrap() },
            timeout_s_max: None,
            output_bytes_max: None,
            input_bytes_max: None,
            sessions_max: None,
            principal_sessions_max: const { NonZeroUsize::new(16).unwrap() },
            observe_syscalls: false,
            observed_syscalls_max: const { Within::new(256).unwrap() },
        }
    }
}

impl Processes {
    /// Returns the most system calls that are recorded of one call or session.
    pub(crate) fn observed_calls_max(&self) -> NonZeroU32 {
        NonZeroU32::new(self.observed_syscalls_max.get()).unwrap_or(NonZeroU32::MIN)
    }

    /// Returns the limits of a bundle, none of them above those of this server.
    pub(crate) fn lower(&self, limits: tool::Limits) -> tool::Limits {
        let at_most =
            |limit: u32, max: Option<NonZeroU32>| max.map_or(limit, |max| limit.min(max.get()));
        let timeout_s_max = at_most(limits.timeout_s_max, self.timeout_s_max);
        let output_bytes_max = at_most(limits.output_bytes_max, self.output_bytes_max);
        tool::Limits {
            timeout_s: limits.timeout_s.min(timeout_s_max),
            timeout_s_max,
            output_bytes: limits.output_bytes.min(output_bytes_max),
            output_bytes_max,
            input_bytes_max: at_most(limits.input_bytes_max, self.input_bytes_max),
            sessions_max: at_most(limits.sessions_max, self.sessions_max),
            ..limits
        }
    }
}

/// Declares the limits: the meaning, the type, which holds the range, and the default of each.
macro_rules! limits {
    ($($(#[$comment:meta])* $name:ident: $type:ty = $default:expr,)*) => {
        /// Limits, each with its unit in its name. In JSON they have the names of the fields.
        #[derive(Debug, Clone, Deserialize, JsonSchema, Serialize)]
        #[serde(deny_unknown_fields, rename_all(deserialize = "kebab-case"), default)]
        pub(crate) struct Limits {
            $($(#[$comment])* pub(crate) $name: $type,)*
        }

        impl Limits {
            /// Returns the names of the limits that `other` sets differently.
            pub(crate) fn differences(&self, other: &Self) -> Vec<&'static str> {
                let mut names = Vec::new();
                $(if self.$name != other.$name {
                    names.push(stringify!($name));
                })*
                names
            }
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: const { <$type>::new($default).unwrap() },)* }
            }
        }
    };
}

limits! {
    /// The size of a bundle.
    bundle_bytes_max: NonZeroU64 = 1 << 30,
    /// The body of one HTTP request.
    body_bytes_max: NonZeroUsize = 1 << 20,
    /// Bodies of the requests of one caller that are in memory at a time. Only bodies over 16 KiB
    /// count; a larger one waits for its room, at most `request-s-max`. One body always has room.
    principal_bodies_bytes_max: NonZeroUsize = 4 << 20,
    /// Bodies of the requests of all callers that are in memory at a time, counted likewise.
    bodies_bytes_max: NonZeroUsize = 32 << 20,
    /// JSON values in the body of one HTTP request.
    body_values_max: NonZeroUsize = 10_000,
    /// One message on standard input.
    line_bytes_max: NonZeroUsize = 4 << 20,
    // hyper requires at least this size of buffer.
    /// The head of one HTTP request, which also has at most 100 fields.
    head_bytes_max: Within<8192, { u32::MAX }> = 32 << 10,
    /// The time to wait for the head of the next request, or for a TLS handshake.
    head_s_max: NonZeroU32 = 30,
    /// The time within which a request must arrive completely. Calls of tools have time limits of
    /// their own.
    request_s_max: NonZeroU32 = 30,
    /// The time within which a client must take an answer, or an event of a stream. Its connection
    /// is closed otherwise.
    write_s_max: NonZeroU32 = 30,
    /// Concurrent HTTP connections. One more takes the place of one that waits for its client, from
    /// the address with the most; otherwise its requests are rejected.
    connections_max: NonZeroU32 = 1024,
    /// Concurrent HTTP connections from one address, or from one IPv6 network of 64 bits; requests
    /// on more are rejected.
    address_connections_max: NonZeroU32 = 768,
    /// Connections over these two limits that are still answered at `/healthz` and `/readyz`; more
    /// are closed.
    health_connections_max: NonZeroU32 = 16,
    /// Sessions of legacy clients over HTTP; more are rejected.
    sessions_max: NonZeroUsize = 1024,
    /// Sessions of one caller, if callers authenticate; more are rejected.
    principal_sessions_max: NonZeroUsize = 256,
    /// Open streams of one caller, if callers authenticate; more are rejected.
    principal_streams_max: NonZeroUsize = 256,
    /// The idle time after which a session is closed.
    session_idle_s_max: NonZeroU32 = 1800,
    /// Clients that listen for changes; more are rejected, or miss the changes.
    listeners_max: NonZeroUsize = 1024,
    /// Resources that one client may subscribe to.
    subscriptions_max: NonZeroUsize = 256,
    /// Concurrent calls of tools of one caller; more are denied.
    principal_calls_max: NonZeroUsize = 256,
    /// The time within which requests in flight must end after a signal to stop.
    drain_s_max: NonZeroU32 = 5,
}

/// An error in `server.toml`.
#[derive(Debug, Error)]
pub(crate) enum ConfigError {
    #[error(
        "cannot read the configuration `{}`: {}; name the file with --config FILE, or leave --config out",
        path.display(),
        reason(source)
    )]
    Read { path: PathBuf, source: io::Error },
    #[error("the configuration `{}` is not valid: {}:{fault}", path.display(), path.display())]
    Parse { path: PathBuf, fault: TomlFault },
}

impl Config {
    /// Reads the file at `path`.
    pub(crate) fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = text_file::read(path)
            .map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        let mut config: Self = toml_text::parse(&text, &TABLES)
            .map_err(|fault| ConfigError::Parse { path: path.to_owned(), fault })?;
        for named in config.tls.iter_mut().flat_map(|Tls { cert, key }| [cert, key]) {
            named.place_in(path, &text);
        }
        config.resolve_paths(path.parent().unwrap_or(Path::new("")));
        Ok(config)
    }

    fn resolve_paths(&mut self, folder: &Path) {
        let Self {
            listen: _,
            allowed_hosts: _,
            allowed_origins: _,
            trust,
            state,
            principal: _,
            tls,
            audit,
            auth,
            briefing,
            metrics: _,
            limits: _,
            processes: _,
            ssh,
            watch: _,
        } = self;
        let audit = audit.path.as_mut().filter(|path| path.as_os_str() != Audit::NONE);
        let jwt = auth.iter_mut().flat_map(|auth| &mut auth.jwt);
        let jwks = jwt.flat_map(|jwt| [&mut jwt.jwks, &mut jwt.jwks_ca]).flatten();
        let tls = tls.iter_mut().flat_map(|Tls { cert, key }| [&mut cert.path, &mut key.path]);
        let optional = [trust.as_mut(), state.as_mut(), audit].into_iter().flatten();
        let keys = briefing.keys.iter_mut().flatten().map(|key| &mut key.key_file);
        let known = ssh.known_hosts.iter_mut().flatten();
        let hosts = [ssh.config.as_mut(), ssh.inventory.as_mut()].into_iter().flatten();
        for path in optional.chain(tls).chain(jwks).chain(keys).chain(known).chain(hosts) {
            *path = folder.join(&path);
        }
    }
}

fn key_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    u8::try_from(i64::deserialize(deserializer)?)
        .map_err(|_| serde::de::Error::custom("the id of a key is a number from 0 to 255"))
}
