//! Tokens of an authorization server: signed JSON (RFC 7519), checked against a file of keys.

mod keys;
mod signature;

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Validation, decode, decode_header};
use lru::LruCache;
use relay_bundle::Digest;
use serde_json::{Map, Value};

use self::keys::{Key, Keys};
use super::error::HttpError;
use crate::clock;
use crate::config;
use crate::principal::Principal;

/// The most bytes of a token.
const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// The most checked tokens that are kept.
const CHECKED_MAX: NonZeroUsize = const { NonZeroUsize::new(1024).unwrap() };

/// The keys and rules by which tokens are checked.
pub(super) struct Tokens {
    config: config::Jwt,
    keys: Keys,
    /// Valid tokens by their digest: callers send the same one with each request, and checking a
    /// signature costs more than the rest of an answer. The least recently used one is dropped
    /// first.
    checked: Mutex<LruCache<Digest, Checked>>,
}

/// A valid token, until it expires.
#[derive(Clone)]
struct Checked {
    principal: Arc<Principal>,
    /// In seconds since 1970, with the leeway for clocks that differ.
    expires: u64,
}

/// Why a token is not accepted.
pub(super) enum TokenError {
    /// It is not a valid token of the issuer for this server.
    Invalid {
        /// For the client.
        reason: &'static str,
        /// For the log.
        detail: String,
    },
    /// It is valid, but lacks a scope.
    MissingScope,
}

impl Tokens {
    /// Reads the issuer's keys.
    pub(super) fn new(config: &config::Jwt) -> Result<Self, HttpError> {
        signature::install();
        let keys = Keys::read(&config.jwks, &config.algorithms)?;
        Ok(Self { config: config.clone(), keys, checked: Mutex::new(LruCache::new(CHECKED_MAX)) })
    }

    /// Returns the principal of a token, after checking its signature, times, issuer, audience and
    /// scopes.
    pub(super) fn check(&self, token: &str) -> Result<Arc<Principal>, TokenError> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(invalid("the token is too long", token.len().to_string()));
        }
        let digest = Digest::of(token.as_bytes());
        let now = clock::unix_seconds();
        let known = self.checked().get(&digest).filter(|known| now < known.expires).cloned();
        if let Some(known) = known {
            return Ok(known.principal);
        }
        let new = self.check_unknown(token)?;
        let mut checked = self.checked();
        checked.put(digest, new.clone());
        tracing::debug!("checked a token's signature; {} tokens are remembered", checked.len());
        Ok(new.principal)
    }

    fn checked(&self) -> MutexGuard<'_, LruCache<Digest, Checked>> {
        self.checked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_unknown(&self, token: &str) -> Result<Checked, TokenError> {
        let header = decode_header(token)
            .map_err(|error| invalid("the token is malformed", error.to_string()))?;
        if let Some(names) = &header.crit {
            // RFC 7515, section 4.1.11: this server understands none of them.
            let detail = format!("{} names", names.len());
            return Err(invalid("the token has critical header fields", detail));
        }
        let key = self.keys.find(&header).ok_or_else(|| {
            let detail = format!("key {:?}, algorithm {:?}", header.kid, header.alg);
            invalid("the token is not signed with a key that this server accepts", detail)
        })?;
        let claims: Map<String, Value> = decode(token, &key.key, &self.validation(key))
            .map_err(|error| invalid(reason(error.kind()), error.to_string()))?
            .claims;
        self.claims(&claims)
    }

    fn validation(&self, key: &Key) -> Validation {
        let config = &self.config;
        let mut validation = Validation::default();
        validation.algorithms.clone_from(&key.algorithms);
        validation.leeway = config.leeway_s.into();
        validation.validate_nbf = true;
        validation.set_issuer(&[&config.issuer]);
        validation.set_audience(&[&config.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        validation
    }

    fn claims(&self, claims: &Map<String, Value>) -> Result<Checked, TokenError> {
        let config = &self.config;
        let text = |name: &str| claims.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
        let id = text(&config.principal_claim).filter(|id| !id.is_empty()).ok_or_else(|| {
            invalid("the token does not name its principal", config.principal_claim.clone())
        })?;
        let granted = text("scope").unwrap_or_default();
        let granted: Vec<_> = granted.split_whitespace().collect();
        if !config.scopes.iter().all(|scope| granted.contains(&scope.as_str())) {
            return Err(TokenError::MissingScope);
        }
        let (tenant, role) = (text(&config.tenant_claim), text(&config.role_claim));
        let principal = Arc::new(Principal {
            id,
            issuer: Some(config.issuer.clone()),
            tenant,
            groups: Vec::new(),
            role,
        });
        // An expiry that is not a whole number has been checked, but such a token is not kept.
        let expires = claims.get("exp").and_then(Value::as_u64).unwrap_or(0);
        Ok(Checked { principal, expires: expires.saturating_add(config.leeway_s.into()) })
    }
}

fn invalid(reason: &'static str, detail: String) -> TokenError {
    TokenError::Invalid { reason, detail }
}

fn reason(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::ExpiredSignature => "the token has expired",
        ErrorKind::ImmatureSignature => "the token is not valid yet",
        ErrorKind::InvalidIssuer => "the token is of another issuer",
        ErrorKind::InvalidAudience => "the token is for another server",
        ErrorKind::InvalidSignature => "the token's signature is not valid",
        _ => "the token is not valid",
    }
}
