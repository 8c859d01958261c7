//! The public keys of an issuer, from a JWKS file.

use std::path::Path;

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, Header};

use crate::file::text_file;
use crate::http::error::HttpError;
use crate::settings::config;

/// The public keys of one issuer.
pub(super) struct Keys(Vec<Key>);

/// One public key, and the algorithms that it is used with.
pub(super) struct Key {
    id: Option<String>,
    pub(super) algorithms: Vec<Algorithm>,
    pub(super) key: DecodingKey,
}

impl Keys {
    /// Reads those keys of the file at `path` that fit one of the `allowed` algorithms.
    pub(super) fn read(path: &Path, allowed: &[config::Algorithm]) -> Result<Self, HttpError> {
        let text = text_file::read(path)
            .map_err(|source| HttpError::Read { path: path.to_owned(), source })?;
        let unusable = |reason: String| HttpError::Keys { path: path.to_owned(), reason };
        let set: JwkSet =
            serde_json::from_str(&text).map_err(|error| unusable(error.to_string()))?;
        let allowed: Vec<_> = allowed.iter().copied().map(algorithm).collect();
        let mut keys = Vec::new();
        for jwk in &set.keys {
            let algorithms = algorithms(jwk, &allowed);
            if algorithms.is_empty() {
                continue;
            }
            let id = jwk.common.key_id.clone();
            let key = DecodingKey::from_jwk(jwk).map_err(|error| {
                unusable(format!("key `{}`: {error}", id.as_deref().unwrap_or("without an id")))
            })?;
            keys.push(Key { id, algorithms, key });
        }
        if keys.is_empty() {
            return Err(unusable("it has no key for any of auth.jwt.algorithms".to_owned()));
        }
        Ok(Self(keys))
    }

    /// Returns the key that signed the token with this header, as far as the header says, if its
    /// algorithm is one of the `allowed`.
    pub(super) fn find(&self, header: &Header, allowed: &[config::Algorithm]) -> Option<&Key> {
        // These may be others than when the keys were read.
        if !allowed.iter().any(|allowed| algorithm(*allowed) == header.alg) {
            return None;
        }
        let mut fitting = self.0.iter().filter(|key| key.algorithms.contains(&header.alg));
        match &header.kid {
            Some(id) => fitting.find(|key| key.id.as_ref() == Some(id)),
            // Without an id, only one key may match.
            None => match (fitting.next(), fitting.next()) {
                (Some(key), None) => Some(key),
                _ => None,
            },
        }
    }
}

/// Returns those of the allowed algorithms that `jwk` is a key for.
fn algorithms(jwk: &Jwk, allowed: &[Algorithm]) -> Vec<Algorithm> {
    if !matches!(jwk.common.public_key_use, None | Some(PublicKeyUse::Signature)) {
        return Vec::new();
    }
    let named = jwk.common.key_algorithm.map(|named| named.to_string());
    let fits = |algorithm: &Algorithm| {
        let same_kind = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => algorithm.family() == AlgorithmFamily::Rsa,
            AlgorithmParameters::EllipticCurve(key) => match key.curve {
                EllipticCurve::P256 => *algorithm == Algorithm::ES256,
                EllipticCurve::P384 => *algorithm == Algorithm::ES384,
                _ => false,
            },
            AlgorithmParameters::OctetKeyPair(_) => *algorithm == Algorithm::EdDSA,
            // A shared secret does not belong in a file of public keys.
            _ => false,
        };
        same_kind && named.as_ref().is_none_or(|named| *named == format!("{algorithm:?}"))
    };
    allowed.iter().copied().filter(fits).collect()
}

fn algorithm(algorithm: config::Algorithm) -> Algorithm {
    match algorithm {
        config::Algorithm::EdDSA => Algorithm::EdDSA,
        config::Algorithm::ES256 => Algorithm::ES256,
        config::Algorithm::ES384 => Algorithm::ES384,
        config::Algorithm::PS256 => Algorithm::PS256,
        config::Algorithm::PS384 => Algorithm::PS384,
        config::Algorithm::PS512 => Algorithm::PS512,
        config::Algorithm::RS256 => Algorithm::RS256,
        config::Algorithm::RS384 => Algorithm::RS384,
        config::Algorithm::RS512 => Algorithm::RS512,
    }
}
