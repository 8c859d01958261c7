//! Authentication: the `Authorization` header -> the principal.

use std::sync::Arc;

use arc_swap::{ArcSwap, ArcSwapOption};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use relay_bundle::Digest;
use relay_bundle::trust::Time;
use serde::Serialize;
use subtle::ConstantTimeEq as _;

use super::error::HttpError;
use super::jwt::{TokenError, Tokens};
use crate::clock;
use crate::config;
use crate::principal::Principal;

/// The path of the metadata document, for clients that look for an authorization server.
pub(super) const METADATA_PATH: &str = "/.well-known/oauth-protected-resource";

/// The prefix of an API key.
const API_KEY_PREFIX: &str = "rk_";

/// Identifies callers by API keys and tokens.
pub(super) struct Authenticator {
    keys: ArcSwap<Vec<ApiKey>>,
    issuer: ArcSwapOption<Issuer>,
}

struct ApiKey {
    id: String,
    secret: Digest,
    principal: Arc<Principal>,
    not_after: Option<Time>,
}

struct Issuer {
    config: config::Jwt,
    tokens: Tokens,
    metadata: Metadata,
    metadata_url: String,
}

/// The metadata of this server, by RFC 9728.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Metadata {
    resource: String,
    authorization_servers: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scopes_supported: Vec<String>,
    bearer_methods_supported: [&'static str; 1],
}

/// Why a request is rejected, and which credentials it needs (RFC 6750, RFC 9728).
pub(super) struct Challenge {
    status: StatusCode,
    /// The error code of RFC 6750; absent if the request had no credentials.
    error: Option<&'static str>,
    reason: &'static str,
    metadata_url: Option<String>,
    scope: Option<String>,
    /// The id of the API key that was presented, if it is a known one.
    key: Option<String>,
}

impl Challenge {
    /// Returns why the request is rejected.
    pub(super) fn reason(&self) -> &'static str {
        self.reason
    }

    /// Returns the id of the API key that was presented, if it is a known one.
    pub(super) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }
}

impl Authenticator {
    pub(super) fn new(auth: &config::Auth) -> Result<Self, HttpError> {
        let config::Auth { api_keys, jwt } = auth;
        let issuer = jwt.clone().map(Issuer::new).transpose()?;
        Ok(Self {
            keys: ArcSwap::from_pointee(api_keys.iter().map(ApiKey::new).collect()),
            issuer: ArcSwapOption::from_pointee(issuer),
        })
    }

    /// Replaces the API keys, and reads the issuer's keys again. If those cannot be used, the old
    /// ones stay in force.
    pub(super) fn reload(&self, auth: &config::Auth) {
        let config::Auth { api_keys, jwt } = auth;
        self.keys.store(Arc::new(api_keys.iter().map(ApiKey::new).collect()));
        match jwt.clone().map(Issuer::new).transpose() {
            Ok(issuer) => self.issuer.store(issuer.map(Arc::new)),
            Err(error) => tracing::error!("{error}; the keys read before stay in force"),
        }
    }

    /// Returns the metadata document, if an authorization server is configured.
    pub(super) fn metadata(&self) -> Option<Metadata> {
        self.issuer.load().as_ref().map(|issuer| issuer.metadata.clone())
    }

    /// Returns the principal of a request.
    pub(super) fn authenticate(&self, headers: &HeaderMap) -> Result<Arc<Principal>, Challenge> {
        if !headers.contains_key(header::AUTHORIZATION) {
            return Err(self.challenge(
                StatusCode::UNAUTHORIZED,
                None,
                "authentication is required",
            ));
        }
        let token = single(headers, header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(bearer)
            .ok_or_else(|| self.invalid("the Authorization header is not `Bearer TOKEN`"))?;
        if let Some(key) = token.strip_prefix(API_KEY_PREFIX) {
            return self.api_key(key);
        }
        let issuer = self.issuer.load();
        let Some(issuer) = &*issuer else {
            return Err(self.invalid("this server takes API keys (rk_ID_SECRET) only"));
        };
        match issuer.tokens.check(token) {
            Ok(principal) => Ok(principal),
            Err(TokenError::Invalid { reason, detail }) => {
                // It may repeat what the caller typed.
                tracing::trace!("rejected a token: {detail}");
                Err(self.invalid(reason))
            }
            Err(TokenError::MissingScope) => Err(self.challenge(
                StatusCode::FORBIDDEN,
                Some("insufficient_scope"),
                "the token lacks a scope that this server requires",
            )),
        }
    }

    /// Compares in constant time, and takes as long for an unknown id as for a known one.
    fn api_key(&self, key: &str) -> Result<Arc<Principal>, Challenge> {
        let (id, secret) = key.split_once('_').unwrap_or((key, ""));
        let keys = self.keys.load();
        let known = keys.iter().find(|known| known.id == id);
        let Digest(expected) = known.map_or(Digest([0; 32]), |known| known.secret);
        let Digest(found) = Digest::of(secret.as_bytes());
        let same: bool = expected.ct_eq(&found).into();
        let now = clock::unix_seconds();
        let reason = match known {
            Some(known) if same && known.not_after.is_none_or(|Time(end)| now < end) => {
                return Ok(known.principal.clone());
            }
            // Only a caller that has the secret learns that the key exists.
            Some(_) if same => "the API key has expired",
            _ => "the API key is not valid",
        };
        let key = known.map(|known| known.id.clone());
        Err(Challenge { key, ..self.invalid(reason) })
    }

    fn invalid(&self, reason: &'static str) -> Challenge {
        self.challenge(StatusCode::UNAUTHORIZED, Some("invalid_token"), reason)
    }

    fn challenge(
        &self,
        status: StatusCode,
        error: Option<&'static str>,
        reason: &'static str,
    ) -> Challenge {
        let issuer = self.issuer.load();
        let issuer = issuer.as_ref();
        Challenge {
            status,
            error,
            reason,
            metadata_url: issuer.map(|issuer| issuer.metadata_url.clone()),
            scope: issuer
                .map(|issuer| issuer.config.scopes.join(" "))
                .filter(|scopes| !scopes.is_empty()),
            key: None,
        }
    }
}

impl ApiKey {
    fn new(key: &config::ApiKey) -> Self {
        let config::ApiKey { id, sha256, principal, tenant, groups, role, not_after } = key;
        Self {
            id: id.clone(),
            secret: *sha256,
            principal: Arc::new(Principal {
                id: principal.clone(),
                issuer: None,
                tenant: tenant.clone(),
                groups: groups.clone(),
                role: role.clone(),
            }),
            not_after: *not_after,
        }
    }
}

impl Issuer {
    fn new(config: config::Jwt) -> Result<Self, HttpError> {
        let tokens = Tokens::new(&config)?;
        let resource = config.resource.clone().unwrap_or_else(|| config.audience.clone());
        let metadata_url = metadata_url(&resource)
            .ok_or_else(|| HttpError::Resource { resource: resource.clone() })?;
        let mut authorization_servers = config.authorization_servers.clone();
        if authorization_servers.is_empty() {
            authorization_servers.push(config.issuer.clone());
        }
        let metadata = Metadata {
            resource,
            authorization_servers,
            scopes_supported: config.scopes.clone(),
            bearer_methods_supported: ["header"],
        };
        Ok(Self { config, tokens, metadata, metadata_url })
    }
}

/// Returns the URL of the metadata of `resource`: its path follows the well-known one.
fn metadata_url(resource: &str) -> Option<String> {
    let (scheme, rest) = resource.split_once("://")?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    if authority.is_empty() || !matches!(scheme, "http" | "https") {
        return None;
    }
    let path = path.trim_end_matches('/');
    let slash = if path.is_empty() { "" } else { "/" };
    Some(format!("{scheme}://{authority}{METADATA_PATH}{slash}{path}"))
}

/// Returns the value of a header that must appear only once.
fn single(headers: &HeaderMap, name: HeaderName) -> Option<&HeaderValue> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => Some(value),
        _ => None,
    }
}

fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

impl IntoResponse for Challenge {
    fn into_response(self) -> Response {
        let Self { status, error, reason, metadata_url, scope, key: _ } = self;
        let mut challenge = "Bearer realm=\"relay\"".to_owned();
        let quoted = [
            ("error", error),
            ("error_description", error.map(|_| reason)),
            ("resource_metadata", metadata_url.as_deref()),
            ("scope", scope.as_deref()),
        ];
        for (name, value) in quoted {
            // Characters that would end the quotes are left out; none of these texts needs them.
            let value = value.map(|value| value.replace(['"', '\\'], ""));
            challenge.extend(value.map(|value| format!(", {name}=\"{value}\"")));
        }
        (status, [(header::WWW_AUTHENTICATE, challenge)], format!("{reason}\n")).into_response()
    }
}
