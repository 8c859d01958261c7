//! Tokens of an authorization server: signed JSON (RFC 7519), checked against a file of keys.
//!
//! Only algorithms with a public key are supported. `ring` checks the signatures, as it does for
//! TLS, so that the network side has one implementation of cryptography.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::signature::{self, Verifier};
use jsonwebtoken::{
    Algorithm, AlgorithmFamily, DecodingKey, DecodingKeyKind, EncodingKey, Header, Validation,
    decode, decode_header,
};
use lru::LruCache;
use relay_bundle::Digest;
use ring::signature as ring_signature;
use serde_json::{Map, Value};

use super::error::HttpError;
use crate::clock;
use crate::config;
use crate::principal::Principal;
use crate::text_file;

/// The most bytes of a token.
const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// The most checked tokens that are kept.
const CHECKED_MAX: NonZeroUsize = const { NonZeroUsize::new(1024).unwrap() };

/// The keys and rules by which tokens are checked.
pub(super) struct Tokens {
    config: config::Jwt,
    keys: Vec<Key>,
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

/// One public key of the issuer, and its algorithms.
struct Key {
    id: Option<String>,
    algorithms: Vec<Algorithm>,
    key: DecodingKey,
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
        // It fails if the provider is installed already, by another server in this process (a
        // test).
        _ = PROVIDER.install_default();
        let path = &config.jwks;
        let text = text_file::read(path)
            .map_err(|source| HttpError::Read { path: path.clone(), source })?;
        let unusable = |reason: String| HttpError::Keys { path: path.clone(), reason };
        let set: JwkSet =
            serde_json::from_str(&text).map_err(|error| unusable(error.to_string()))?;
        let allowed: Vec<_> = config.algorithms.iter().copied().map(algorithm).collect();
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
        let key = self.key(&header).ok_or_else(|| {
            let detail = format!("key {:?}, algorithm {:?}", header.kid, header.alg);
            invalid("the token is not signed with a key that this server accepts", detail)
        })?;
        let claims: Map<String, Value> = decode(token, &key.key, &self.validation(key))
            .map_err(|error| invalid(reason(error.kind()), error.to_string()))?
            .claims;
        self.claims(&claims)
    }

    fn key(&self, header: &Header) -> Option<&Key> {
        let mut fitting = self.keys.iter().filter(|key| key.algorithms.contains(&header.alg));
        match &header.kid {
            Some(id) => fitting.find(|key| key.id.as_ref() == Some(id)),
            // Without an id, only one key may match.
            None => match (fitting.next(), fitting.next()) {
                (Some(key), None) => Some(key),
                _ => None,
            },
        }
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
        let principal = Arc::new(Principal { id, tenant, role });
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

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory,
    verifier_factory,
    // Only needed to create keys, which a server does not do.
    key_utils: KeyUtils::new_unimplemented(),
};

fn signer_factory(
    _: &Algorithm,
    _: &EncodingKey,
) -> jsonwebtoken::errors::Result<Box<dyn JwtSigner>> {
    Err(ErrorKind::UnsupportedAlgorithm.into())
}

fn verifier_factory(
    algorithm: &Algorithm,
    key: &DecodingKey,
) -> jsonwebtoken::errors::Result<Box<dyn JwtVerifier>> {
    if key.family() != algorithm.family() {
        return Err(ErrorKind::InvalidKeyFormat.into());
    }
    let method = match algorithm {
        Algorithm::EdDSA => Method::Plain(&ring_signature::ED25519),
        Algorithm::ES256 => Method::Plain(&ring_signature::ECDSA_P256_SHA256_FIXED),
        Algorithm::ES384 => Method::Plain(&ring_signature::ECDSA_P384_SHA384_FIXED),
        Algorithm::RS256 => Method::Rsa(&ring_signature::RSA_PKCS1_2048_8192_SHA256),
        Algorithm::RS384 => Method::Rsa(&ring_signature::RSA_PKCS1_2048_8192_SHA384),
        Algorithm::RS512 => Method::Rsa(&ring_signature::RSA_PKCS1_2048_8192_SHA512),
        Algorithm::PS256 => Method::Rsa(&ring_signature::RSA_PSS_2048_8192_SHA256),
        Algorithm::PS384 => Method::Rsa(&ring_signature::RSA_PSS_2048_8192_SHA384),
        Algorithm::PS512 => Method::Rsa(&ring_signature::RSA_PSS_2048_8192_SHA512),
        _ => return Err(ErrorKind::UnsupportedAlgorithm.into()),
    };
    Ok(Box::new(RingVerifier { algorithm: *algorithm, method, key: key.clone() }))
}

struct RingVerifier {
    algorithm: Algorithm,
    method: Method,
    key: DecodingKey,
}

enum Method {
    /// The key is one run of bytes.
    Plain(&'static dyn ring_signature::VerificationAlgorithm),
    /// The key is modulus and exponent.
    Rsa(&'static ring_signature::RsaParameters),
}

impl JwtVerifier for RingVerifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl Verifier<Vec<u8>> for RingVerifier {
    fn verify(&self, message: &[u8], signed: &Vec<u8>) -> Result<(), signature::Error> {
        let verified = match (&self.method, self.key.kind()) {
            (Method::Plain(algorithm), DecodingKeyKind::SecretOrDer(key)) => {
                ring_signature::UnparsedPublicKey::new(*algorithm, key).verify(message, signed)
            }
            (Method::Rsa(parameters), DecodingKeyKind::RsaModulusExponent { n, e }) => {
                let key = ring_signature::RsaPublicKeyComponents { n, e };
                key.verify(parameters, message, signed)
            }
            _ => return Err(signature::Error::new()),
        };
        verified.map_err(|_| signature::Error::new())
    }
}
