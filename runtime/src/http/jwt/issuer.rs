//! One issuer of tokens: its keys, its rules and the tenants that it may speak for.

use std::sync::Arc;

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Validation, decode, decode_header};
use serde_json::Value;

use super::claims::Claims;
use super::error::TokenError;
use super::keys::{Key, Keys};
use super::principal::principal;
use crate::caller::principal::Principal;
use crate::http::error::HttpError;
use crate::settings::config;

/// One issuer.
pub(super) struct Issuer {
    pub(super) config: Arc<config::Jwt>,
    keys: Arc<Keys>,
}

/// A valid token, until it expires.
#[derive(Clone)]
pub(crate) struct Checked {
    pub(crate) principal: Arc<Principal>,
    /// In seconds since 1970, with the leeway for clocks that differ.
    pub(crate) expires: u64,
}

impl Issuer {
    /// Reads the issuer's keys.
    pub(super) fn read(config: &config::Jwt) -> Result<Self, HttpError> {
        let keys = Keys::read(&config.jwks, &config.algorithms)?;
        Ok(Self { config: Arc::new(config.clone()), keys: Arc::new(keys) })
    }

    /// Returns the issuer by the rules of `config`, with the keys that were read before.
    pub(super) fn with_rules(&self, config: &config::Jwt) -> Self {
        Self { config: Arc::new(config.clone()), keys: self.keys.clone() }
    }

    /// Checks the signature of a token, its times, issuer, audience, tenant, groups and scopes.
    pub(super) fn check(&self, token: &str) -> Result<Checked, TokenError> {
        let header = decode_header(token)
            .map_err(|error| TokenError::new("the token is malformed", error.to_string()))?;
        if let Some(names) = &header.crit {
            // RFC 7515, section 4.1.11: this server understands none of them.
            let detail = format!("{} names", names.len());
            return Err(TokenError::new("the token has critical header fields", detail));
        }
        let key = self.keys.find(&header, &self.config.algorithms).ok_or_else(|| {
            let detail = format!("key {:?}, algorithm {:?}", header.kid, header.alg);
            TokenError::new("the token is not signed with a key that this server accepts", detail)
        })?;
        let claims = decode(token, &key.key, &self.validation(key))
            .map_err(|error| TokenError::new(reason(error.kind()), error.to_string()))?
            .claims;
        self.checked(&Claims(claims))
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

    fn checked(&self, claims: &Claims) -> Result<Checked, TokenError> {
        let config = &self.config;
        // jsonwebtoken also accepts a list that holds the issuer.
        if claims.text("iss")? != Some(&config.issuer) {
            return Err(TokenError::new("the token is of another issuer", String::new()));
        }
        let principal = Arc::new(principal(config, claims)?);
        if !config.scopes.is_empty() {
            let granted = claims.words("scope")?;
            if !config.scopes.iter().all(|scope| granted.contains(&scope.as_str())) {
                return Err(TokenError::missing_scope());
            }
        }
        // An expiry that is not a whole number has been checked, but such a token is not kept.
        let expires = claims.0.get("exp").and_then(Value::as_u64).unwrap_or(0);
        Ok(Checked { principal, expires: expires.saturating_add(config.leeway_s.into()) })
    }
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
