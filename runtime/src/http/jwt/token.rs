//! A token as text -> its parts (RFC 7515, section 7.1), before anything is verified.
//!
//! The decoder of `jsonwebtoken` rejects a header with an `alg` that it has no name for, such as
//! `Ed25519` of RFC 9864, and takes one key for a token, although an issuer may have two with one
//! id. So the parts and the claims are read here, with serde and base64; keys are read by that
//! crate, and `ring` verifies.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};

use super::error::TokenError;

/// The parts of a token.
pub(super) struct Parts<'t, H = Header> {
    pub(super) header: H,
    /// The signed text.
    pub(super) signed: &'t str,
    pub(super) claims: Map<String, Value>,
    pub(super) signature: Vec<u8>,
}

/// The header of a token.
#[derive(Debug, Deserialize)]
pub(super) struct Header {
    pub(super) alg: String,
    pub(super) kid: Option<String>,
    pub(super) crit: Option<Vec<IgnoredAny>>,
}

impl<'t, H: DeserializeOwned> Parts<'t, H> {
    pub(super) fn of(token: &'t str) -> Result<Self, TokenError> {
        let (signed, signature) = token.rsplit_once('.').ok_or_else(malformed)?;
        let (header, claims) = signed.split_once('.').ok_or_else(malformed)?;
        Ok(Self {
            header: json(header)?,
            signed,
            claims: json(claims)?,
            signature: bytes(signature)?,
        })
    }
}

fn json<T: DeserializeOwned>(part: &str) -> Result<T, TokenError> {
    serde_json::from_slice(&bytes(part)?)
        .map_err(|error| TokenError::new("the token is malformed", error.to_string()))
}

fn bytes(part: &str) -> Result<Vec<u8>, TokenError> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| malformed())
}

fn malformed() -> TokenError {
    TokenError::new("the token is malformed", String::new())
}
