//! Authentication: the `Authorization` header -> the principal.

use std::borrow::Cow;
use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use relay_bundle::Digest;
use relay_bundle::trust::Time;
use subtle::ConstantTimeEq as _;
use tokio::sync::watch;

use super::error::HttpError;
use super::jwt::{Checked, TokenError, Tokens};
use super::metadata::{Metadata, common_scopes};
use crate::caller::principal::Principal;
use crate::clock;
use crate::settings::config;

/// The prefix of an API key.
const API_KEY_PREFIX: &str = "rk_";

/// Identifies callers by API keys and tokens.
pub(super) struct Authenticator {
    keys: ArcSwap<Vec<ApiKey>>,
    issuers: ArcSwap<Issuers>,
    /// Changes after each reload.
    reloads: watch::Sender<()>,
}

/// Who sent a request, and for how long its credentials count.
pub(super) struct Identity {
    pub(super) principal: Arc<Principal>,
    /// The time from which they no longer count, if it is known.
    pub(super) until: Option<Time>,
}

struct ApiKey {
    id: String,
    secret: Digest,
    principal: Arc<Principal>,
    not_after: Option<Time>,
}

/// The authorization servers whose tokens are accepted, and what clients learn of them.
struct Issuers {
    tokens: Tokens,
    metadata: Option<Metadata>,
    metadata_url: Option<String>,
    /// The scopes that a token of any of them needs.
    scopes: Vec<String>,
}

/// Why a request is rejected, and which credentials it needs (RFC 6750, RFC 9728).
pub(super) struct Challenge {
    status: StatusCode,
    /// The error code of RFC 6750; absent if the request had no credentials.
    error: Option<&'static str>,
    reason: Cow<'static, str>,
    /// The issuers as they were when the request was rejected.
    issuers: Arc<Issuers>,
    claimed: Option<Claimed>,
}

/// Whose credential was presented, as far as it is a known one.
enum Claimed {
    /// The API key of this id.
    Key(String),
    /// A token that names this issuer.
    Issuer(Arc<config::Jwt>),
}

impl Challenge {
    /// Returns why the request is rejected.
    pub(super) fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns the kind and the name of the credential that was presented, if it is a known one.
    pub(super) fn claimed(&self) -> Option<(&'static str, &str)> {
        Some(match self.claimed.as_ref()? {
            Claimed::Key(id) => ("api-key", id),
            Claimed::Issuer(jwt) => ("issuer", &jwt.issuer),
        })
    }

    /// Returns the scopes that a token needs: of the issuer that was named, or else of all.
    fn scopes(&self) -> &[String] {
        match &self.claimed {
            Some(Claimed::Issuer(jwt)) => &jwt.scopes,
            Some(Claimed::Key(_)) | None => &self.issuers.scopes,
        }
    }
}

impl Authenticator {
    pub(super) fn new(auth: &config::Auth) -> Result<Self, HttpError> {
        let config::Auth { api_keys, jwt } = auth;
        Ok(Self {
            keys: ArcSwap::from_pointee(api_keys.iter().map(ApiKey::new).collect()),
            issuers: ArcSwap::from_pointee(Issuers::new(Tokens::read(jwt)?, jwt)),
            reloads: watch::Sender::default(),
        })
    }

    /// Replaces the API keys and the issuers, whose keys are read again. If those of an issuer
    /// cannot be used, its old ones stay in force.
    pub(super) fn reload(&self, auth: &config::Auth) {
        let config::Auth { api_keys, jwt } = auth;
        self.keys.store(Arc::new(api_keys.iter().map(ApiKey::new).collect()));
        let tokens = self.issuers.load().tokens.read_again(jwt);
        self.issuers.store(Arc::new(Issuers::new(tokens, jwt)));
        self.reloads.send_replace(());
    }

    /// Returns a receiver that changes after each reload from here on.
    pub(super) fn reloads(&self) -> watch::Receiver<()> {
        self.reloads.subscribe()
    }

    /// Returns the metadata document, if an authorization server is configured.
    pub(super) fn metadata(&self) -> Option<Metadata> {
        self.issuers.load().metadata.clone()
    }

    /// Returns who sent a request with these headers.
    pub(super) fn authenticate(&self, headers: &HeaderMap) -> Result<Identity, Challenge> {
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
        let issuers = self.issuers.load();
        if issuers.metadata.is_none() {
            return Err(self.invalid("this server takes API keys (rk_ID_SECRET) only"));
        }
        let checked = issuers.tokens.check(token).map_err(|error| {
            let TokenError { reason, detail, lacks_scope, issuer } = error;
            // It may repeat what the caller typed.
            tracing::trace!("rejected a token: {reason}: {detail}");
            let (status, code) = match lacks_scope {
                true => (StatusCode::FORBIDDEN, "insufficient_scope"),
                false => (StatusCode::UNAUTHORIZED, "invalid_token"),
            };
            let claimed = issuer.map(Claimed::Issuer);
            Challenge { claimed, ..self.challenge(status, Some(code), reason) }
        })?;
        let Checked { principal, expires } = checked;
        Ok(Identity { principal, until: Some(Time(expires)) })
    }

    /// Compares in constant time, and takes as long for an unknown id as for a known one.
    fn api_key(&self, key: &str) -> Result<Identity, Challenge> {
        let (id, secret) = key.split_once('_').unwrap_or((key, ""));
        let keys = self.keys.load();
        let known = keys.iter().find(|known| known.id == id);
        let Digest(expected) = known.map_or(Digest([0; 32]), |known| known.secret);
        let Digest(found) = Digest::of(secret.as_bytes());
        let same: bool = expected.ct_eq(&found).into();
        let now = clock::unix_seconds();
        let reason = match known {
            Some(known) if same && known.not_after.is_none_or(|Time(end)| now < end) => {
                return Ok(Identity { principal: known.principal.clone(), until: known.not_after });
            }
            // Only a caller that has the secret learns that the key exists.
            Some(_) if same => "the API key has expired",
            _ => "the API key is not valid",
        };
        let claimed = known.map(|known| Claimed::Key(known.id.clone()));
        Err(Challenge { claimed, ..self.invalid(reason) })
    }

    fn invalid(&self, reason: &'static str) -> Challenge {
        self.challenge(StatusCode::UNAUTHORIZED, Some("invalid_token"), reason)
    }

    fn challenge(
        &self,
        status: StatusCode,
        error: Option<&'static str>,
        reason: impl Into<Cow<'static, str>>,
    ) -> Challenge {
        let issuers = self.issuers.load_full();
        Challenge { status, error, reason: reason.into(), issuers, claimed: None }
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

impl Issuers {
    fn new(tokens: Tokens, configs: &[config::Jwt]) -> Self {
        let metadata = Metadata::new(configs);
        let metadata_url = metadata.as_ref().and_then(Metadata::url);
        Self { tokens, metadata, metadata_url, scopes: common_scopes(configs) }
    }
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
        let scope = Some(self.scopes().join(" ")).filter(|scope| !scope.is_empty());
        let Self { status, error, reason, issuers, claimed: _ } = self;
        let mut challenge = "Bearer realm=\"relay\"".to_owned();
        let quoted = [
            ("error", error),
            ("error_description", error.map(|_| &*reason)),
            ("resource_metadata", issuers.metadata_url.as_deref()),
            ("scope", scope.as_deref()),
        ];
        for (name, value) in quoted {
            // Characters that would end the quotes, or that no header has, are left out; they are
            // only in odd names of claims.
            let plain = |c: &char| matches!(c, ' '..='~') && !matches!(c, '"' | '\\');
            let value = value.map(|value| value.chars().filter(plain).collect::<String>());
            challenge.extend(value.map(|value| format!(", {name}=\"{value}\"")));
        }
        (status, [(header::WWW_AUTHENTICATE, challenge)], format!("{reason}\n")).into_response()
    }
}
