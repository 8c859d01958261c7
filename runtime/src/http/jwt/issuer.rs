//! One issuer of tokens: its keys, its rules and the tenants that it may speak for.

use std::sync::Arc;

use super::claims::Claims;
use super::error::TokenError;
use super::keys::{Fitting, Key, Keys};
use super::principal::principal;
use super::signature;
use super::token::Parts;
use crate::caller::principal::Principal;
use crate::clock;
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
        let Parts { header, signed, claims, signature } = Parts::of(token)?;
        if let Some(names) = &header.crit {
            // RFC 7515, section 4.1.11: this server understands none of them.
            let detail = format!("{} names", names.len());
            return Err(TokenError::new("the token has critical header fields", detail));
        }
        let fitting = self.keys.find(&header, &self.config.algorithms).ok_or_else(|| {
            let detail = format!("key {:?}, algorithm {:?}", header.kid, header.alg);
            TokenError::new("the token is not signed with a key that this server accepts", detail)
        })?;
        let Fitting { algorithm, keys } = fitting;
        let signs =
            |key: &&Key| signature::is_valid(algorithm, &key.key, signed.as_bytes(), &signature);
        if !keys.iter().any(signs) {
            let reason = "the token's signature is not valid";
            return Err(TokenError::new(reason, String::new()));
        }
        self.checked(&Claims(claims), clock::unix_seconds())
    }

    /// Checks the claims of a token whose signature is valid.
    fn checked(&self, claims: &Claims, now: u64) -> Result<Checked, TokenError> {
        let config = &self.config;
        let leeway = u64::from(config.leeway_s);
        let reject = |reason: &'static str| Err(TokenError::new(reason, String::new()));
        let Some(expires) = claims.time("exp")? else { return reject("the token has no `exp`") };
        let expires = expires.saturating_add(leeway);
        // RFC 7519, section 4.1.4: not accepted on or after this time.
        if expires <= now {
            return reject("the token has expired (`exp`)");
        }
        if claims.time("nbf")?.is_some_and(|from| from > now.saturating_add(leeway)) {
            return reject("the token is not valid yet (`nbf`)");
        }
        // It is one text, as the one that chose this issuer.
        if claims.text("iss")? != Some(&config.issuer) {
            return reject("the token is of another issuer");
        }
        match claims.list("aud")? {
            None => return reject("the token has no `aud`"),
            Some(all) if all.contains(&config.audience.as_str()) => {}
            Some(_) => return reject("the token is for another server (`aud`)"),
        }
        let principal = Arc::new(principal(config, claims)?);
        if !config.scopes.is_empty() {
            // Some servers have a list in `scp` in place of the words of RFC 8693.
            let (scope, scp) = (claims.words("scope")?, claims.words("scp")?);
            let granted = if scope.is_empty() { scp } else { scope };
            let wanted = config.scopes.iter().map(String::as_str);
            let missing: Vec<_> = wanted.filter(|scope| !granted.contains(scope)).collect();
            if !missing.is_empty() {
                return Err(TokenError::missing_scopes(&missing));
            }
        }
        Ok(Checked { principal, expires })
    }
}
