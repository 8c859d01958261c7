//! `server.toml`: what is local to one server and therefore in no bundle.
//!
//! Every key is optional. Paths are relative to the folder of the file. Unknown keys are errors.

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::{fs, io};

use relay_bundle::Digest;
use serde::{Deserialize, Deserializer};
use thiserror::Error;

use crate::principal::Principal;

/// The contents of `server.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Config {
    /// The address to listen on; makes HTTP the transport.
    pub(crate) listen: Option<SocketAddr>,
    /// Names that a request's `Host` may have, with or without a port. Unset: the loopback names
    /// and the address that the server listens on.
    pub(crate) allowed_hosts: Option<Vec<String>>,
    /// Origins whose pages may ask, as `https://app.example.com` or `http://localhost:*`. Unset:
    /// pages from this machine.
    pub(crate) allowed_origins: Option<Vec<String>>,
    /// Whose signatures count: `trust.toml`.
    pub(crate) trust: Option<PathBuf>,
    /// The folder for private copies of bundles and for the memory against downgrades.
    pub(crate) state: Option<PathBuf>,
    /// Who asks, where no authentication says so.
    pub(crate) principal: Option<Principal>,
    /// Encryption on the listening address.
    pub(crate) tls: Option<Tls>,
    /// The record of what was asked and answered.
    pub(crate) audit: Audit,
    /// Who may ask over HTTP. Unset: anyone who can connect, which only loopback allows.
    pub(crate) auth: Option<Auth>,
    /// How the handles of briefings are sealed.
    pub(crate) briefing: Briefing,
    /// How much is too much.
    pub(crate) limits: Limits,
    /// How a replaced bundle is noticed.
    pub(crate) watch: Watch,
}

/// Certificate and key of the listening address, as PEM files.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Tls {
    /// The certificate, followed by those that lead to a root.
    pub(crate) cert: PathBuf,
    /// Its private key.
    pub(crate) key: PathBuf,
}

/// The record of what was asked and answered.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Audit {
    /// The file to append to, or `none`. Unset: this user's own file.
    pub(crate) path: Option<PathBuf>,
}

impl Audit {
    /// The path that stands for no file.
    pub(crate) const NONE: &str = "none";
}

/// How the handles of briefings are sealed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Briefing {
    /// Minutes for which a handle is good: 1 to 43200, which are 30 days.
    #[serde(deserialize_with = "lifetime_min")]
    pub(crate) lifetime_min: u32,
    /// The first one seals, every one opens. Unset: a random one, which ends with the process.
    pub(crate) keys: Option<Vec<BriefingKey>>,
}

impl Default for Briefing {
    fn default() -> Self {
        Self { lifetime_min: 720, keys: None }
    }
}

/// A key that seals handles.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct BriefingKey {
    /// 0 to 255: by this a handle names its key.
    #[serde(deserialize_with = "key_id")]
    pub(crate) id: u8,
    /// The file with the key, 64 hexadecimal digits; read again on SIGHUP.
    pub(crate) key_file: PathBuf,
}

/// How a replaced bundle is noticed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Watch {
    /// Milliseconds between two looks at the bundle's path; 0 leaves only SIGHUP.
    pub(crate) poll_ms: u64,
}

impl Default for Watch {
    fn default() -> Self {
        Self { poll_ms: 500 }
    }
}

/// How much is too much. The unit is in each name; no limit can be 0.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Limits {
    /// Bytes of a bundle.
    pub(crate) bundle_bytes_max: NonZeroU64,
    /// Bytes of the body of one HTTP request.
    pub(crate) body_bytes_max: NonZeroUsize,
    /// Bytes of one message on standard input.
    pub(crate) line_bytes_max: NonZeroUsize,
    /// Bytes of the head of one HTTP request; at least 8192.
    pub(crate) head_bytes_max: NonZeroUsize,
    /// Seconds to wait for the head of the next request, or for a TLS handshake.
    pub(crate) head_s_max: NonZeroU32,
    /// Seconds until a request must have come whole. How long a call of a tool may take is said by
    /// the tool.
    pub(crate) request_s_max: NonZeroU32,
    /// HTTP connections at one time; more wait.
    pub(crate) connections_max: NonZeroU32,
    /// Sessions of clients that begin with `initialize` over HTTP; more are refused.
    pub(crate) sessions_max: NonZeroUsize,
    /// Seconds after which a session without traffic is closed.
    pub(crate) session_idle_s_max: NonZeroU32,
    /// Clients that listen for changes; more are refused, or hear nothing.
    pub(crate) listeners_max: NonZeroUsize,
    /// Resources that one client may subscribe to.
    pub(crate) subscriptions_max: NonZeroUsize,
    /// Calls of tools that one caller may run at one time; more are refused.
    pub(crate) principal_calls_max: NonZeroUsize,
    /// Seconds that requests in flight may take after the server was told to stop.
    pub(crate) drain_s_max: NonZeroU32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bundle_bytes_max: const { NonZeroU64::new(1 << 30).unwrap() },
            body_bytes_max: const { NonZeroUsize::new(4 << 20).unwrap() },
            line_bytes_max: const { NonZeroUsize::new(4 << 20).unwrap() },
            head_bytes_max: const { NonZeroUsize::new(32 << 10).unwrap() },
            head_s_max: const { NonZeroU32::new(30).unwrap() },
            request_s_max: const { NonZeroU32::new(30).unwrap() },
            connections_max: const { NonZeroU32::new(1024).unwrap() },
            sessions_max: const { NonZeroUsize::new(1024).unwrap() },
            session_idle_s_max: const { NonZeroU32::new(1800).unwrap() },
            listeners_max: const { NonZeroUsize::new(1024).unwrap() },
            subscriptions_max: const { NonZeroUsize::new(256).unwrap() },
            principal_calls_max: const { NonZeroUsize::new(256).unwrap() },
            drain_s_max: const { NonZeroU32::new(5).unwrap() },
        }
    }
}

/// Who may ask over HTTP.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Auth {
    /// Keys that are sent as `Authorization: Bearer rk_ID_SECRET`.
    #[serde(default)]
    pub(crate) api_keys: Vec<ApiKey>,
    /// Tokens of an authorization server.
    #[serde(default)]
    pub(crate) jwt: Option<Jwt>,
}

/// A key that a caller may have.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ApiKey {
    /// Letters, digits and hyphens: the ID in `rk_ID_SECRET`.
    pub(crate) id: String,
    /// The SHA-256 of SECRET alone, in hexadecimal digits. SECRET must be random.
    #[serde(deserialize_with = "sha256")]
    pub(crate) sha256: Digest,
    /// Who has the key.
    pub(crate) principal: String,
    /// For which tenant.
    #[serde(default)]
    pub(crate) tenant: Option<String>,
    /// In which role.
    #[serde(default)]
    pub(crate) role: Option<String>,
}

/// Which tokens of which authorization server count.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Jwt {
    /// The `iss` that a token must have.
    pub(crate) issuer: String,
    /// The `aud` that a token must have: the URL of this server's `/mcp`.
    pub(crate) audience: String,
    /// The algorithms that count. `none` and those with a shared secret cannot be named.
    pub(crate) algorithms: Vec<Algorithm>,
    /// The authorization server's public keys, as a JWKS file; read again on SIGHUP.
    pub(crate) jwks: PathBuf,
    /// The URL that clients reach this server by, for the metadata document. Unset: the audience.
    #[serde(default)]
    pub(crate) resource: Option<String>,
    /// Where clients get tokens. Unset: the issuer.
    #[serde(default)]
    pub(crate) authorization_servers: Vec<String>,
    /// Scopes that a token must have, all of them.
    #[serde(default)]
    pub(crate) scopes: Vec<String>,
    /// The claim that says who asks.
    #[serde(default = "claim_sub")]
    pub(crate) principal_claim: String,
    /// The claim that says for which tenant.
    #[serde(default = "claim_tenant")]
    pub(crate) tenant_claim: String,
    /// The claim that says in which role.
    #[serde(default = "claim_role")]
    pub(crate) role_claim: String,
    /// Seconds by which clocks may differ.
    #[serde(default = "leeway")]
    pub(crate) leeway_s: u32,
}

/// A signature algorithm with a public key, by its name in RFC 7518 and RFC 8037.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) enum Algorithm {
    EdDSA,
    ES256,
    ES384,
    PS256,
    PS384,
    PS512,
    RS256,
    RS384,
    RS512,
}

/// Why `server.toml` cannot be used.
#[derive(Debug, Error)]
pub(crate) enum ConfigError {
    #[error("cannot read the configuration `{}`: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("the configuration `{}` is not valid: {reason}", path.display())]
    Parse { path: PathBuf, reason: String },
}

impl Config {
    /// Reads the file at `path`.
    pub(crate) fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = fs::read_to_string(path)
            .map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        let mut config: Self = toml::from_str(&text).map_err(|error| ConfigError::Parse {
            path: path.to_owned(),
            reason: with_suggestion(&error),
        })?;
        config.resolve_paths(path.parent().unwrap_or(Path::new("")));
        Ok(config)
    }

    fn resolve_paths(&mut self, folder: &Path) {
        let Self { trust, state, tls, audit, auth, briefing, .. } = self;
        let audit = audit.path.as_mut().filter(|path| path.as_os_str() != Audit::NONE);
        let jwt = auth.as_mut().and_then(|auth| auth.jwt.as_mut());
        let tls = tls.iter_mut().flat_map(|Tls { cert, key }| [cert, key]);
        let optional = [trust.as_mut(), state.as_mut(), audit].into_iter().flatten();
        let keys = briefing.keys.iter_mut().flatten().map(|key| &mut key.key_file);
        for path in optional.chain(tls).chain(jwt.map(|jwt| &mut jwt.jwks)).chain(keys) {
            *path = folder.join(&path);
        }
    }
}

/// Adds the nearest known name to the report of an unknown key.
fn with_suggestion(error: &toml::de::Error) -> String {
    let report = error.to_string();
    let report = report.trim_end();
    let mut names = error.message().split('`').skip(1).step_by(2);
    let unknown = names.next().filter(|_| error.message().starts_with("unknown field"));
    let nearest = unknown.and_then(|unknown| {
        names
            .map(|name| (distance(unknown, name), name))
            .min()
            .filter(|(distance, name)| *distance <= 1 + name.len() / 4)
    });
    match nearest {
        Some((_, name)) => format!("{report}\ndid you mean `{name}`?"),
        None => report.to_owned(),
    }
}

/// Returns how many letters to add, drop or change to make `b` of `a` (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, to) in row.iter_mut().skip(1).zip(b.chars()) {
            let change = diagonal + usize::from(from != to);
            diagonal = *cell;
            left = change.min(left + 1).min(*cell + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

fn sha256<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
    let text = String::deserialize(deserializer)?;
    let hex = text.strip_prefix("sha256:").unwrap_or(&text).to_ascii_lowercase();
    Digest::parse(&format!("sha256:{hex}")).ok_or_else(|| {
        serde::de::Error::custom(
            "the SHA-256 of a key's secret is 64 hexadecimal digits: printf %s SECRET | sha256sum",
        )
    })
}

fn lifetime_min<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let minutes = i64::deserialize(deserializer)?;
    u32::try_from(minutes).ok().filter(|minutes| (1..=43_200).contains(minutes)).ok_or_else(|| {
        serde::de::Error::custom("a handle is good for 1 to 43200 minutes, which are 30 days")
    })
}

fn key_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    u8::try_from(i64::deserialize(deserializer)?)
        .map_err(|_| serde::de::Error::custom("the id of a key is a number from 0 to 255"))
}

fn claim_sub() -> String {
    "sub".to_owned()
}

fn claim_tenant() -> String {
    "tenant".to_owned()
}

fn claim_role() -> String {
    "role".to_owned()
}

fn leeway() -> u32 {
    30
}
