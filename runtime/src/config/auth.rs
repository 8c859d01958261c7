//! The part of `server.toml` that says who may send requests over HTTP.

use std::path::PathBuf;

use relay_bundle::Digest;
use relay_bundle::trust::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

/// Who may send requests over HTTP.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Auth {
    /// Keys that clients send as `Authorization: Bearer rk_ID_SECRET`; read again on SIGHUP.
    #[serde(default)]
    pub(crate) api_keys: Vec<ApiKey>,
    /// Tokens (JWT) of an authorization server.
    #[serde(default)]
    pub(crate) jwt: Option<Jwt>,
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
    /// The key is not valid from this time on: a date, or a date and a time. Without an offset it is
    /// in UTC.
    #[serde(default)]
    pub(crate) not_after: Option<Time>,
}

/// The tokens that are accepted, and their authorization server.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Jwt {
    /// The `iss` that a token must have.
    pub(crate) issuer: String,
    /// The `aud` that a token must have: the URL of this server's `/mcp`.
    pub(crate) audience: String,
    /// The algorithms with which a token may be signed, at least one.
    pub(crate) algorithms: Vec<Algorithm>,
    /// The authorization server's public keys, as a JWKS file; read again on SIGHUP.
    #[schemars(extend("format" = "path"))]
    pub(crate) jwks: PathBuf,
    /// The URL by which clients reach this server's `/mcp`, for the metadata document. Unset:
    /// the audience.
    #[serde(default)]
    pub(crate) resource: Option<String>,
    /// The URLs where clients get tokens. Empty: the issuer.
    #[serde(default)]
    pub(crate) authorization_servers: Vec<String>,
    /// Scopes that a token must have, all of them.
    #[serde(default)]
    pub(crate) scopes: Vec<String>,
    /// The claim that names the caller.
    #[serde(default = "claim_sub")]
    pub(crate) principal_claim: String,
    /// The claim that names the tenant.
    #[serde(default = "claim_tenant")]
    pub(crate) tenant_claim: String,
    /// The claim that names the role.
    #[serde(default = "claim_role")]
    pub(crate) role_claim: String,
    /// The tolerated difference between clocks.
    #[serde(default = "leeway")]
    pub(crate) leeway_s: u32,
}

/// A signature algorithm with a public key, by its name in RFC 7518 and RFC 8037.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
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
