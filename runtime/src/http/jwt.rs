//! Tokens of authorization servers: signed JSON (RFC 7519), checked against the keys of each
//! issuer, from a file or a URL.
//!
//! The issuer that a token names only chooses the keys and rules for the check of the whole token,
//! its issuer included.

mod binding;
mod claims;
mod download;
mod error;
mod fetched;
mod issuer;
mod keys;
mod principal;
mod proof;
mod replays;
mod signature;
mod token;

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use jsonwebtoken::dangerous::insecure_decode_claims;
use lru::LruCache;
use relay_bundle::Digest;
use relay_machine::clock;
use relay_machine::lock::lock;
use serde::Deserialize;

pub(super) use self::error::{TokenError, TokenErrorKind};
pub(super) use self::fetched::{KeySetState, KeySetStatus, Shared};
pub(super) use self::issuer::Checked;
pub(super) use self::proof::{ALGORITHMS as PROOF_ALGORITHMS, Asked};
pub(super) use self::replays::Replays;

use self::issuer::Issuer;
use self::keys::Keys;
use super::error::HttpError;
use crate::settings::config;

/// The most bytes of a token.
const TOKEN_BYTES_MAX: usize = 16 * 1024;
/// The most checked tokens in memory.
const CHECKED_MAX: NonZeroUsize = const { NonZeroUsize::new(1024).unwrap() };

/// Checks the proof of the key in a request with a bound token.
pub(super) fn check_proof(
    asked: &Asked<'_>,
    token: &str,
    checked: &Checked,
    replays: &Replays,
) -> Result<(), TokenError> {
    let Some(bound_to) = &checked.bound_to else { return Ok(()) };
    proof::check(asked, token, checked, bound_to, replays)
        .map_err(|error| error.of(&checked.issuer))
}

/// The issuers whose tokens are accepted.
pub(super) struct Tokens {
    issuers: Vec<Issuer>,
    /// Valid tokens by their digest: callers send the same one with each request, and checking a
    /// signature costs more than the rest of an answer. The least recently used one is dropped
    /// first.
    checked: Mutex<LruCache<Digest, Remembered>>,
}

/// A token that was checked by these keys. It is checked again under other keys.
#[derive(Clone)]
struct Remembered {
    checked: Checked,
    keys: Arc<Keys>,
    /// The place of its issuer in the list.
    issuer: usize,
}

impl Tokens {
    /// Reads the keys of all issuers, or begins to fetch them.
    pub(super) fn read(configs: &[config::Jwt], shared: &Shared) -> Result<Self, HttpError> {
        let issuers = configs.iter().map(|config| Issuer::read(config, None, shared));
        Ok(Self::of(issuers.collect::<Result<_, _>>()?))
    }

    /// Reads or fetches the keys of all issuers again. Each of them is on its own: if the keys of
    /// one are missing or invalid, those read before stay in force, by the rules of `configs`.
    pub(super) fn read_again(&self, configs: &[config::Jwt], shared: &Shared) -> Self {
        let read = |config: &config::Jwt| {
            let known = self.issuer(&config.issuer).map(|(_, known)| known);
            match Issuer::read(config, known, shared) {
                Ok(issuer) => Some(issuer),
                Err(error) => {
                    let then = match known {
                        Some(_) => "the keys read before stay in force",
                        None => "no token of this issuer is accepted",
                    };
                    tracing::error!("{error}; {then}");
                    known.map(|known| known.with_rules(config))
                }
            }
        };
        Self::of(configs.iter().filter_map(read).collect())
    }

    fn of(issuers: Vec<Issuer>) -> Self {
        Self { issuers, checked: Mutex::new(LruCache::new(CHECKED_MAX)) }
    }

    /// Waits until each set from a URL was tried once.
    pub(super) async fn first_fetches(&self) {
        for fetched in self.issuers.iter().filter_map(Issuer::fetched) {
            fetched.first().await;
        }
    }

    /// Returns the sets from URLs, as they are now.
    pub(super) fn key_sets(&self) -> Vec<KeySetStatus> {
        let fetched = self.issuers.iter().filter_map(Issuer::fetched);
        fetched.map(|fetched| fetched.status()).collect()
    }

    /// Returns whether the tokens of some issuer can be checked.
    pub(super) fn has_keys(&self) -> bool {
        self.issuers.iter().any(|issuer| issuer.keys().is_ok())
    }

    /// Checks all of a token, and returns its caller.
    pub(super) fn check(&self, token: &str) -> Result<Checked, TokenError> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(TokenError::new("the token is too long", token.len().to_string()));
        }
        let digest = Digest::of(token.as_bytes());
        if let Some(known) = self.remembered(&digest) {
            return Ok(known);
        }
        let (at, issuer) = self.issuer_of(token)?;
        let of_issuer = |error: TokenError| error.of(&issuer.config);
        let keys = issuer.keys().map_err(of_issuer)?;
        let new = issuer.check(token, &keys).map_err(of_issuer)?;
        let mut checked = lock(&self.checked);
        checked.put(digest, Remembered { checked: new.clone(), keys, issuer: at });
        tracing::debug!("checked a token's signature; {} tokens are remembered", checked.len());
        Ok(new)
    }

    /// Returns a token that was checked before, by keys still in force.
    fn remembered(&self, digest: &Digest) -> Option<Checked> {
        let Remembered { checked, keys, issuer } = lock(&self.checked).get(digest).cloned()?;
        let in_force = self.issuers.get(issuer)?.keys().ok()?;
        let counts = clock::unix_seconds() < checked.expires && Arc::ptr_eq(&keys, &in_force);
        counts.then_some(checked)
    }

    /// Returns the issuer that a token names, before anything of the token is verified.
    fn issuer_of(&self, token: &str) -> Result<(usize, &Issuer), TokenError> {
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

    fn issuer(&self, name: &str) -> Option<(usize, &Issuer)> {
        self.issuers.iter().enumerate().find(|(_, issuer)| issuer.config.issuer == name)
    }
}
