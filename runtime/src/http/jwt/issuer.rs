//! One issuer of tokens: its keys, its rules and the tenants that it may speak for.

use std::sync::Arc;

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Validation, decode, decode_header};
use serde_json::Value;

use super::TokenError;
use super::claims::Claims;
use super::keys::{Key, Keys};
use crate::config;
use crate::http::error::HttpError;
use crate::principal::{Principal, check_groups};

/// One issuer.
pub(super) struct Issuer {
    pub(super) config: Arc<config::Jwt>,
    keys: Arc<Keys>,
}

/// A valid token, until it expires.
#[derive(Clone)]
pub(super) struct Checked {
    pub(super) principal: Arc<Principal>,
    /// In seconds since 1970, with the leeway for clocks that differ.
    pub(super) expires: u64,
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
        let id = claims.text(&config.principal_claim)?.ok_or_else(|| {
            TokenError::new("the token does not name its principal", config.principal_claim.clone())
        })?;
        let principal = Arc::new(Principal {
            id: id.to_owned(),
            issuer: Some(config.issuer.clone()),
            tenant: self.tenant(claims)?,
            groups: self.groups(claims)?,
            role: claims.text(&config.role_claim)?.map(ToOwned::to_owned),
        });
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

    /// Returns the tenant of a token, which is always one of those that the issuer may speak for, if
    /// these are configured. A bundle may give a tenant to a caller that has none, so such a token
    /// is not let through as one without a tenant.
    fn tenant(&self, claims: &Claims) -> Result<Option<String>, TokenError> {
        let claim = &self.config.tenant_claim;
        let named = claims.text(claim)?;
        let Some(tenants) = &self.config.tenants else { return Ok(named.map(ToOwned::to_owned)) };
        match (named, tenants.as_slice()) {
            (Some(named), all) if all.iter().any(|tenant| tenant == named) => {
                Ok(Some(named.to_owned()))
            }
            (Some(named), _) => {
                let reason = "the token's issuer may not speak for its tenant";
                Err(TokenError::new(reason, named.to_owned()))
            }
            (None, [only]) => Ok(Some(only.clone())),
            (None, _) => Err(TokenError::new("the token does not name its tenant", claim.clone())),
        }
    }

    fn groups(&self, claims: &Claims) -> Result<Vec<String>, TokenError> {
        let Some(claim) = &self.config.groups_claim else { return Ok(Vec::new()) };
        let groups: Vec<String> = claims.words(claim)?.into_iter().map(ToOwned::to_owned).collect();
        check_groups(&groups).map_err(|error| {
            TokenError::new(format!("the token's groups cannot be used: {error}"), claim.clone())
        })?;
        Ok(groups)
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
