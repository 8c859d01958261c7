//! One issuer of tokens: its keys, its rules and its tenants.

use std::sync::Arc;

use relay_machine::clock;
use tokio_util::sync::DropGuard;

use super::binding;
use super::claims::Claims;
use super::download::Download;
use super::error::TokenError;
use super::fetched::{Dated, Fetched, Shared};
use super::keys::{Fitting, Key, Keys};
use super::principal::principal;
use super::signature;
use super::token::{Header, Parts};
use crate::caller::principal::Principal;
use crate::http::error::HttpError;
use crate::settings::config::{self, KeyPlace};

/// One issuer.
pub(super) struct Issuer {
    pub(super) config: Arc<config::Jwt>,
    source: Source,
}

/// Where the keys come from.
#[derive(Clone)]
enum Source {
    File(Arc<Keys>),
    Url {
        fetched: Arc<Fetched>,
        /// Ends the fetches.
        _guard: Arc<DropGuard>,
    },
}

/// A valid token, until it expires.
#[derive(Clone)]
pub(crate) struct Checked {
    pub(crate) principal: Arc<Principal>,
    /// In seconds since 1970, with the leeway for clocks that differ.
    pub(crate) expires: u64,
    /// The thumbprint of the key that it is bound to.
    pub(crate) bound_to: Option<String>,
    pub(crate) issuer: Arc<config::Jwt>,
}

impl Issuer {
    /// Reads the issuer's keys, or begins to fetch them. The keys of `before` stay in force until
    /// the first fetch succeeds, up to their greatest age.
    pub(super) fn read(
        config: &config::Jwt,
        before: Option<&Self>,
        shared: &Shared,
    ) -> Result<Self, HttpError> {
        let config = Arc::new(config.clone());
        let source = match config.key_place()? {
            KeyPlace::File(path) => Source::File(Arc::new(Keys::read(path, &config.algorithms)?)),
            KeyPlace::Url(url) => {
                let download = Download::new(url, config.jwks_ca.as_deref())?;
                let before = before.and_then(Self::dated);
                let (fetched, guard) = Fetched::follow(&config, download, before, shared);
                Source::Url { fetched, _guard: Arc::new(guard) }
            }
        };
        Ok(Self { config, source })
    }

    /// Returns the issuer by the rules of `config`, with the present keys.
    pub(super) fn with_rules(&self, config: &config::Jwt) -> Self {
        Self { config: Arc::new(config.clone()), source: self.source.clone() }
    }

    /// Returns the keys in force.
    pub(super) fn keys(&self) -> Result<Arc<Keys>, TokenError> {
        match &self.source {
            Source::File(keys) => Ok(keys.clone()),
            Source::Url { fetched, .. } => fetched.in_force().map(|dated| dated.keys),
        }
    }

    /// Returns the keys in force, and the time of their last confirmation.
    fn dated(&self) -> Option<Dated> {
        match &self.source {
            Source::File(keys) => Some(Dated { keys: keys.clone(), since: clock::unix_seconds() }),
            Source::Url { fetched, .. } => fetched.in_force().ok(),
        }
    }

    /// Returns the set from a URL, if the keys come from one.
    pub(super) fn fetched(&self) -> Option<&Arc<Fetched>> {
        match &self.source {
            Source::File(_) => None,
            Source::Url { fetched, .. } => Some(fetched),
        }
    }

    /// Checks the signature of a token by these keys, and its times, issuer, audience, tenant,
    /// groups and scopes.
    pub(super) fn check(&self, token: &str, keys: &Keys) -> Result<Checked, TokenError> {
        let parts: Parts<'_> = Parts::of(token)?;
        let Parts { header, signed, claims, signature } = parts;
        if let Some(names) = &header.crit {
            // RFC 7515, section 4.1.11: this server understands none of them.
            let detail = format!("{} names", names.len());
            return Err(TokenError::new("the token has critical header fields", detail));
        }
        let fitting = keys
            .find(&header, &self.config.algorithms)
            .ok_or_else(|| self.unknown_key(&header, keys))?;
        let Fitting { algorithm, keys } = fitting;
        let signs =
            |key: &&Key| signature::is_valid(algorithm, &key.key, signed.as_bytes(), &signature);
        if !keys.iter().any(signs) {
            let reason = "the token's signature is not valid";
            return Err(TokenError::new(reason, String::new()));
        }
        self.checked(&Claims(claims), clock::unix_seconds())
    }

    /// Returns the error for a header that fits none of `keys`. A new key may be the reason, so a
    /// set from a URL is fetched again; the request itself is answered at once.
    fn unknown_key(&self, header: &Header, keys: &Keys) -> TokenError {
        let detail = format!("key {:?}, algorithm {:?}", header.kid, header.alg);
        match (self.fetched(), &header.kid) {
            (Some(fetched), Some(id)) if !keys.has(id) => {
                fetched.want();
                let reason =
                    "the token's key is not known here: the keys of its issuer are fetched again";
                TokenError::new(reason, detail)
            }
            _ => {
                let reason = "the token is not signed with a key that this server accepts";
                TokenError::new(reason, detail)
            }
        }
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
        // It is one text, equal to the one that chose this issuer.
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
            // Some servers have a list in `scp` instead of the words of RFC 8693.
            let (scope, scp) = (claims.words("scope")?, claims.words("scp")?);
            let granted = if scope.is_empty() { scp } else { scope };
            let wanted = config.scopes.iter().map(String::as_str);
            let missing: Vec<_> = wanted.filter(|scope| !granted.contains(scope)).collect();
            if !missing.is_empty() {
                return Err(TokenError::missing_scopes(&missing));
            }
        }
        let bound_to = binding::key(claims)?;
        binding::check(config.dpop, bound_to.as_deref())?;
        Ok(Checked { principal, expires, bound_to, issuer: config.clone() })
    }
}
