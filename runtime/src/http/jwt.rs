//! Tokens of authorization servers: signed JSON (RFC 7519), checked against a file of keys for each
//! issuer.
//!
//! The issuer that a token names is only used to choose the keys and rules by which all of the token
//! is then checked, its issuer too.

mod claims;
mod error;
mod issuer;
mod keys;
mod principal;
mod signature;
mod token;

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jsonwebtoken::dangerous::insecure_decode_claims;
use lru::LruCache;
use relay_bundle::Digest;
use serde::Deserialize;

pub(super) use self::error::TokenError;
pub(super) use self::issuer::Checked;

use self::issuer::Issuer;
use super::error::HttpError;
use crate::clock;
use crate::settings::config;

/// The most bytes of a token.
const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// The most checked tokens that are kept.
const CHECKED_MAX: NonZeroUsize = const { NonZeroUsize::new(1024).unwrap() };

/// The issuers whose tokens are accepted.
pub(super) struct Tokens {
    issuers: Vec<Issuer>,
    /// Valid tokens by their digest: callers send the same one with each request, and checking a
    /// signature costs more than the rest of an answer. The least recently used one is dropped
    /// first.
    checked: Mutex<LruCache<Digest, Checked>>,
}

impl Tokens {
    /// Reads the keys of all issuers.
    pub(super) fn read(configs: &[config::Jwt]) -> Result<Self, HttpError> {
        Ok(Self::of(configs.iter().map(Issuer::read).collect::<Result<_, _>>()?))
    }

    /// Reads the keys of all issuers again. Each of them is on its own: if the keys of one cannot be
    /// used, those read before stay in force, by the rules of `configs`.
    pub(super) fn read_again(&self, configs: &[config::Jwt]) -> Self {
        let read = |config: &config::Jwt| match Issuer::read(config) {
            Ok(issuer) => Some(issuer),
            Err(error) => {
                let known = self.issuer(&config.issuer);
                let then = match known {
                    Some(_) => "the keys read before stay in force",
                    None => "no token of this issuer is accepted",
                };
                tracing::error!("{error}; {then}");
                known.map(|known| known.with_rules(config))
            }
        };
        Self::of(configs.iter().filter_map(read).collect())
    }

    fn of(issuers: Vec<Issuer>) -> Self {
        Self { issuers, checked: Mutex::new(LruCache::new(CHECKED_MAX)) }
    }

    /// Returns whose token it is, after checking all of it.
    pub(super) fn check(&self, token: &str) -> Result<Checked, TokenError> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(TokenError::new("the token is too long", token.len().to_string()));
        }
        let digest = Digest::of(token.as_bytes());
        let now = clock::unix_seconds();
        let known = self.checked().get(&digest).filter(|known| now < known.expires).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let issuer = self.issuer_of(token)?;
        let new = issuer.check(token).map_err(|error| error.of(&issuer.config))?;
        let mut checked = self.checked();
        checked.put(digest, new.clone());
        tracing::debug!("checked a token's signature; {} tokens are remembered", checked.len());
        Ok(new)
    }

    fn checked(&self) -> MutexGuard<'_, LruCache<Digest, Checked>> {
        self.checked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the issuer that a token names, before anything of the token is verified.
    fn issuer_of(&self, token: &str) -> Result<&Issuer, TokenError> {
        #[derive(Deserialize)]
        struct Claims {
            iss: Option<String>,
        }
        let Claims { iss } = insecure_decode_claims(token)
            .map_err(|error| TokenError::new("the token is malformed", error.to_string()))?;
        let iss = iss
            .ok_or_else(|| TokenError::new("the token does not name its issuer", String::new()))?;
        self.issuer(&iss).ok_or_else(|| TokenError::new("the token is of another issuer", iss))
    }

    fn issuer(&self, name: &str) -> Option<&Issuer> {
        self.issuers.iter().find(|issuer| issuer.config.issuer == name)
    }
}
