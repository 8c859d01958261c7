//! The part of `server.toml` that says who may send requests over HTTP, and its constraints.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use relay_bundle::Digest;
use relay_bundle::trust::Time;
use schemars::JsonSchema;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

use super::key_url::{KeyUrl, KeyUrlError};
use super::within::Within;
use crate::caller::principal::{GroupsError, check_groups};

/// Who may send requests over HTTP.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Auth {
    /// Keys that clients send as `Authorization: Bearer rk_ID_SECRET`; read again on SIGHUP.
    #[schemars(with = "Vec<ApiKey>")]
    #[serde(default, deserialize_with = "api_keys")]
    pub(crate) api_keys: Vec<ApiKey>,
    /// Tokens (JWT) of authorization servers, each with a table of its own. Equal callers of two
    /// issuers are two callers. Read again on SIGHUP.
    #[schemars(with = "Vec<Jwt>")]
    #[serde(default, deserialize_with = "issuers")]
    pub(crate) jwt: Vec<Jwt>,
}

/// The key of a caller.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ApiKey {
    /// The ID in `rk_ID_SECRET`: letters, digits and hyphens.
    pub(crate) id: String,
    /// The SHA-256 of SECRET alone, as `printf %s SECRET | sha256sum` prints it. SECRET must be
    /// random.
    #[schemars(with = "String", extend("format" = "64 hexadecimal digits"))]
    #[serde(deserialize_with = "sha256")]
    pub(crate) sha256: Digest,
    /// The caller that has the key, as audit records name it.
    pub(crate) principal: String,
    /// The tenant of the caller.
    #[serde(default)]
    pub(crate) tenant: Option<String>,
    /// The groups of the caller: at most 256, each of at most 512 bytes.
    #[serde(default)]
    pub(crate) groups: Vec<String>,
    /// The role that is wanted for the caller, among those that the bundle gives it.
    #[serde(default)]
    pub(crate) role: Option<String>,
    /// The key is valid until this time: a date, or a date and a time. A time that names no offset
    /// is in UTC.
    #[serde(default)]
    pub(crate) not_after: Option<Time>,
}

/// The tokens of one authorization server.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Jwt {
    /// The `iss` that a token must have, different in each table.
    pub(crate) issuer: String,
    /// The tenants that the issuer may speak for, each in one table only. A token that names
    /// another is rejected; one that names none is of the only one, or rejected if there are
    /// several. Unset: any tenant or none, which only a single issuer may.
    #[serde(default)]
    pub(crate) tenants: Option<Vec<String>>,
    /// The `aud` that a token must have: the URL of this server's `/mcp`.
    pub(crate) audience: String,
    /// The algorithms with which a token may be signed, at least one. `Ed25519` is a newer name of
    /// `EdDSA`; either one accepts tokens of both names.
    pub(crate) algorithms: Vec<Algorithm>,
    /// The authorization server's public keys, as a JWKS file; read again on SIGHUP. RSA keys have
    /// 2,048 to 8,192 bits; a set with a private key or a shared secret is refused. A table has
    /// either `jwks` or `jwks-url`.
    #[schemars(extend("format" = "path"))]
    #[serde(default)]
    pub(crate) jwks: Option<PathBuf>,
    /// The URL of the JWKS, as the metadata of the authorization server call it (`jwks_uri`):
    /// `https`, or `http` to a loopback host. The set is fetched at the start, at intervals and on
    /// SIGHUP, in the background; redirects are errors.
    #[schemars(extend("format" = "URL"))]
    #[serde(default)]
    pub(crate) jwks_url: Option<String>,
    /// Certificates (PEM) of the authorities that count for the host of `jwks-url`; read again on
    /// SIGHUP. Unset: those of the system, or those that `SSL_CERT_FILE` names.
    #[schemars(extend("format" = "path"))]
    #[serde(default)]
    pub(crate) jwks_ca: Option<PathBuf>,
    /// The interval at which the set at `jwks-url` is fetched. A key that was removed there is in
    /// force until then.
    #[serde(default = "jwks_refresh")]
    pub(crate) jwks_refresh_s: Within<1, 86_400>,
    /// The shortest interval at which the set is fetched again because a token names an unknown
    /// key, or because a fetch failed.
    #[serde(default = "jwks_cooldown")]
    pub(crate) jwks_cooldown_s: Within<1, 3600>,
    /// The time for which a set stays in force after the last fetch that succeeded. Later, the
    /// tokens of the issuer are refused.
    #[serde(default = "jwks_max_age")]
    pub(crate) jwks_max_age_s: Within<1, 2_592_000>,
    /// The URL by which clients reach this server's `/mcp`, for the metadata document; the same in
    /// every table. Unset: the audience.
    #[serde(default)]
    pub(crate) resource: Option<String>,
    /// The URLs where clients get tokens. Empty: the issuer.
    #[serde(default)]
    pub(crate) authorization_servers: Vec<String>,
    /// Scopes that a token must have, all of them, in its claim `scope` or else `scp`.
    #[serde(default)]
    pub(crate) scopes: Vec<String>,
    /// The claim that names the caller. The name of a claim is its whole name, or else a path of names
    /// with dots between them, such as `realm_access.roles`.
    #[serde(default = "claim_sub")]
    pub(crate) principal_claim: String,
    /// The claim that names the tenant.
    #[serde(default = "claim_tenant")]
    pub(crate) tenant_claim: String,
    /// The claim that lists the groups: texts, or one text with white space between them; at most 256
    /// groups, each of at most 512 bytes. Unset: callers have no groups.
    #[serde(default)]
    pub(crate) groups_claim: Option<String>,
    /// The claim that names the role that is wanted for the caller, among those that the bundle gives
    /// it.
    #[serde(default = "claim_role")]
    pub(crate) role_claim: String,
    /// The tolerated difference between clocks.
    #[serde(default = "leeway")]
    pub(crate) leeway_s: u32,
    /// Tokens that are bound to a key of their caller (DPoP, RFC 9449). `accept`: such a token
    /// needs a proof of the key with each request; other tokens need none. `require`: unbound
    /// tokens are rejected. `off`: bound tokens are rejected. A bound token without its proof is
    /// always rejected.
    #[serde(default)]
    pub(crate) dpop: Dpop,
}

/// The place of an issuer's keys.
#[derive(Debug)]
pub(crate) enum KeyPlace<'c> {
    File(&'c Path),
    Url(KeyUrl),
}

/// Whether tokens may or must be bound to a key of their caller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Dpop {
    Off,
    #[default]
    Accept,
    Require,
}

/// A signature algorithm with a public key, by its name in RFC 7518, RFC 8037 and RFC 9864.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) enum Algorithm {
    EdDSA,
    Ed25519,
    ES256,
    ES384,
    PS256,
    PS384,
    PS512,
    RS256,
    RS384,
    RS512,
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

fn jwks_refresh() -> Within<1, 86_400> {
    const { Within::new(300).unwrap() }
}

fn jwks_cooldown() -> Within<1, 3600> {
    const { Within::new(30).unwrap() }
}

fn jwks_max_age() -> Within<1, 2_592_000> {
    const { Within::new(21_600).unwrap() }
}

/// An error in `[auth]`.
#[derive(Debug, Error)]
pub(crate) enum AuthError {
    #[error(
        "[auth] names neither api-keys nor jwt, so no one could send a request: add one, or remove [auth]"
    )]
    Empty,
    #[error(
        "the id of API key `{id}` must consist of letters, digits and hyphens, since `_` ends it in rk_ID_SECRET"
    )]
    KeyId { id: String },
    #[error("two API keys have the id `{id}`")]
    KeyTwice { id: String },
    #[error("the groups of API key `{id}` cannot be used: {reason}")]
    KeyGroups { id: String, reason: GroupsError },
    #[error(
        "two tables [[auth.jwt]] have the issuer `{issuer}`: write one, with all tenants that it may speak for"
    )]
    IssuerTwice { issuer: String },
    #[error(
        "there are several [[auth.jwt]], but that of the issuer `{issuer}` does not say for which tenants: add `tenants = [\"acme\"]` with those that it may speak for, and no other issuer"
    )]
    NoTenants { issuer: String },
    #[error(
        "`tenants` of the issuer `{issuer}` in [[auth.jwt]] is empty or has an empty name: write the names of the tenants that it may speak for"
    )]
    EmptyTenants { issuer: String },
    #[error(
        "the tenant `{tenant}` is listed twice in `tenants` of [[auth.jwt]], for the issuer `{first}` and for `{second}`: one issuer speaks for a tenant"
    )]
    TenantTwice { tenant: String, first: String, second: String },
    #[error(
        "`{key}` of the issuer `{issuer}` in [[auth.jwt]] is empty: write a value, or remove it if it is optional"
    )]
    EmptyValue { key: &'static str, issuer: String },
    #[error(
        "[[auth.jwt]] of the issuer `{issuer}` names no algorithms: add those that it signs with, such as \"ES256\""
    )]
    NoAlgorithms { issuer: String },
    #[error(
        "[[auth.jwt]] of the issuer `{issuer}` names no keys: add `jwks` with a JWKS file, or `jwks-url` with the URL of one"
    )]
    NoKeys { issuer: String },
    #[error(
        "[[auth.jwt]] of the issuer `{issuer}` has both `jwks` and `jwks-url`: remove one, since its keys come from one place"
    )]
    KeysTwice { issuer: String },
    #[error("`jwks` of the issuer `{issuer}` in [[auth.jwt]] is a URL: write it as `jwks-url`")]
    KeysFileIsUrl { issuer: String },
    #[error("`jwks-url` of the issuer `{issuer}` in [[auth.jwt]] cannot be used: {reason}")]
    KeysUrl { issuer: String, reason: KeyUrlError },
    #[error(
        "`jwks-max-age-s` of the issuer `{issuer}` in [[auth.jwt]] is {max_age} and `jwks-refresh-s` is {refresh}: keys must be fetched again before they are too old"
    )]
    KeysAge { issuer: String, max_age: u32, refresh: u32 },
    #[error(
        "[[auth.jwt]] of the issuer `{issuer}` gives the resource `{resource}`: write the URL by which clients reach /mcp"
    )]
    Resource { issuer: String, resource: String },
    #[error(
        "[[auth.jwt]] gives this server two resources, `{first}` for the issuer `{first_issuer}` and `{second}` for `{second_issuer}`: add the same `resource` to each, the URL by which clients reach /mcp"
    )]
    TwoResources { first: String, first_issuer: String, second: String, second_issuer: String },
}

impl Auth {
    /// Checks each table, and the rules across them.
    pub(crate) fn check(&self) -> Result<(), AuthError> {
        let Self { api_keys, jwt } = self;
        if api_keys.is_empty() && jwt.is_empty() {
            return Err(AuthError::Empty);
        }
        let mut ids = BTreeSet::new();
        for key in api_keys {
            key.check()?;
            if !ids.insert(&key.id) {
                return Err(AuthError::KeyTwice { id: key.id.clone() });
            }
        }
        jwt.iter().try_for_each(Jwt::check)?;
        check_together(jwt)
    }
}

impl ApiKey {
    fn check(&self) -> Result<(), AuthError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let id = || self.id.clone();
        if self.id.is_empty() || !self.id.chars().all(plain) {
            return Err(AuthError::KeyId { id: id() });
        }
        check_groups(&self.groups).map_err(|reason| AuthError::KeyGroups { id: id(), reason })
    }
}

impl Jwt {
    /// Returns the URL by which clients reach this server.
    pub(crate) fn resource(&self) -> &str {
        self.resource.as_deref().unwrap_or(&self.audience)
    }

    /// Returns where the keys come from: one of two places.
    pub(crate) fn key_place(&self) -> Result<KeyPlace<'_>, AuthError> {
        let issuer = || self.issuer.clone();
        match (&self.jwks, &self.jwks_url) {
            (None, None) => Err(AuthError::NoKeys { issuer: issuer() }),
            (Some(_), Some(_)) => Err(AuthError::KeysTwice { issuer: issuer() }),
            (Some(path), None) if is_url(path) => {
                Err(AuthError::KeysFileIsUrl { issuer: issuer() })
            }
            (Some(path), None) => Ok(KeyPlace::File(path)),
            (None, Some(url)) => KeyUrl::parse(url)
                .map(KeyPlace::Url)
                .map_err(|reason| AuthError::KeysUrl { issuer: issuer(), reason }),
        }
    }

    fn check(&self) -> Result<(), AuthError> {
        let issuer = || self.issuer.clone();
        let values = [
            ("issuer", Some(&self.issuer)),
            ("audience", Some(&self.audience)),
            ("principal-claim", Some(&self.principal_claim)),
            ("tenant-claim", Some(&self.tenant_claim)),
            ("groups-claim", self.groups_claim.as_ref()),
            ("role-claim", Some(&self.role_claim)),
        ];
        if let Some((key, _)) = values.iter().find(|(_, value)| value.is_some_and(String::is_empty))
        {
            return Err(AuthError::EmptyValue { key, issuer: issuer() });
        }
        if self
            .tenants
            .as_ref()
            .is_some_and(|all| all.is_empty() || all.iter().any(String::is_empty))
        {
            return Err(AuthError::EmptyTenants { issuer: issuer() });
        }
        if self.algorithms.is_empty() {
            return Err(AuthError::NoAlgorithms { issuer: issuer() });
        }
        self.key_place()?;
        let (max_age, refresh) = (self.jwks_max_age_s.get(), self.jwks_refresh_s.get());
        if max_age <= refresh {
            return Err(AuthError::KeysAge { issuer: issuer(), max_age, refresh });
        }
        if UrlParts::of(self.resource()).is_none() {
            let resource = self.resource().to_owned();
            return Err(AuthError::Resource { issuer: issuer(), resource });
        }
        Ok(())
    }
}

/// Returns whether a path was meant as a URL. The folder of the configuration precedes it.
fn is_url(path: &Path) -> bool {
    path.components().any(|part| matches!(part.as_os_str().to_str(), Some("https:" | "http:")))
}

/// Checks that each tenant has one issuer, and that issuers agree about the server.
fn check_together(issuers: &[Jwt]) -> Result<(), AuthError> {
    let mut names = BTreeSet::new();
    let mut tenants = BTreeMap::new();
    for jwt in issuers {
        let issuer = || jwt.issuer.clone();
        if !names.insert(&jwt.issuer) {
            return Err(AuthError::IssuerTwice { issuer: issuer() });
        }
        if jwt.tenants.is_none() && issuers.len() > 1 {
            return Err(AuthError::NoTenants { issuer: issuer() });
        }
        for tenant in jwt.tenants.iter().flatten() {
            if let Some(first) = tenants.insert(tenant, &jwt.issuer) {
                let (tenant, first) = (tenant.clone(), first.clone());
                return Err(AuthError::TenantTwice { tenant, first, second: issuer() });
            }
        }
    }
    let Some(first) = issuers.first() else { return Ok(()) };
    // RFC 9728, section 2: the metadata have one resource.
    match issuers.iter().find(|jwt| jwt.resource() != first.resource()) {
        None => Ok(()),
        Some(second) => Err(AuthError::TwoResources {
            first: first.resource().to_owned(),
            first_issuer: first.issuer.clone(),
            second: second.resource().to_owned(),
            second_issuer: second.issuer.clone(),
        }),
    }
}

/// A URL of this server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UrlParts<'u> {
    /// Scheme and authority.
    pub(crate) origin: &'u str,
    /// With a slash at its beginning only; empty for the root.
    pub(crate) path: &'u str,
}

impl<'u> UrlParts<'u> {
    /// Splits a URL of HTTP.
    pub(crate) fn of(url: &'u str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let authority = rest.split('/').next().filter(|authority| !authority.is_empty())?;
        if !matches!(scheme, "http" | "https") {
            return None;
        }
        let (origin, path) = url.split_at_checked(scheme.len() + "://".len() + authority.len())?;
        Some(Self { origin, path: path.trim_end_matches('/') })
    }
}

/// Reads the tables of API keys.
fn api_keys<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ApiKey>, D::Error> {
    tables("[[auth.api-keys]]", deserializer)
}

/// Reads the tables of issuers.
fn issuers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Jwt>, D::Error> {
    tables("[[auth.jwt]]", deserializer)
}

/// Reads a list of tables, which messages call `name`.
pub(super) fn tables<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    name: &'static str,
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    struct Tables<T>(&'static str, PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Tables<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, tables: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(tables))
        }
    }

    deserializer.deserialize_seq(Tables(name, PhantomData))
}
