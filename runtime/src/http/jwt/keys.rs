//! The public keys of an issuer, from a JWKS.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{
    AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse, RSAKeyParameters,
};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey};
use relay_bundle::Digest;
use relay_machine::file::text_file;
use serde::Deserialize;
use serde_json::Value;

use super::token::Header;
use crate::http::error::HttpError;
use crate::settings::config;

/// The members of a key for its owner alone: those of private keys and of shared secrets.
const PRIVATE_MEMBERS: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];
/// The bounds of RSA keys, in bits.
const RSA_BITS_MIN: usize = 2048;
const RSA_BITS_MAX: usize = 8192;
/// The most keys of one id that a signature is tried with.
const SAME_ID_MAX: usize = 8;
/// The most keys of a set. Each new token searches all of them.
const KEYS_MAX: usize = 256;
/// The most keys that an error explains.
const UNFIT_MAX: usize = 4;

/// The public keys of one issuer.
pub(super) struct Keys(Vec<Key>);

/// One public key, and its algorithms.
pub(super) struct Key {
    id: Option<String>,
    algorithms: Vec<Algorithm>,
    pub(super) key: DecodingKey,
}

/// The algorithm of a token, and the keys that may have signed it.
pub(super) struct Fitting<'k> {
    pub(super) algorithm: Algorithm,
    pub(super) keys: Vec<&'k Key>,
}

/// The contents of the file.
#[derive(Deserialize)]
struct KeySet {
    keys: Vec<Value>,
}

impl Keys {
    /// Reads the file at `path`.
    pub(super) fn read(path: &Path, allowed: &[config::Algorithm]) -> Result<Self, HttpError> {
        let text = text_file::read(path)
            .map_err(|source| HttpError::Read { path: path.to_owned(), source })?;
        Self::parse(&text, allowed)
            .map_err(|reason| HttpError::Keys { path: path.to_owned(), reason })
    }

    /// Reads those keys of a JWKS that fit one of the `allowed` algorithms.
    pub(super) fn parse(text: &str, allowed: &[config::Algorithm]) -> Result<Self, String> {
        if text.contains("-----BEGIN ") {
            let reason = "it is PEM: write the public keys as a JWKS, which is JSON (RFC 7517)";
            return Err(reason.to_owned());
        }
        let KeySet { keys: all } =
            serde_json::from_str(text).map_err(|error| format!("it is not a JWKS: {error}"))?;
        if all.len() > KEYS_MAX {
            return Err(format!("it has {} keys: at most {KEYS_MAX} are read", all.len()));
        }
        let allowed: Vec<_> = allowed.iter().copied().map(algorithm).collect();
        let (mut keys, mut others) = (Vec::new(), Vec::new());
        for (at, json) in all.iter().enumerate() {
            let of_key = |reason: String| format!("{}: {reason}", name(json, at));
            match Key::read(json, &allowed).map_err(of_key)? {
                Ok(key) => keys.push(key),
                Err(unfit) => others.push(format!("{}: {unfit}", name(json, at))),
            }
        }
        if keys.is_empty() {
            let mut reason = "it has no key for any of auth.jwt.algorithms".to_owned();
            for other in others.iter().take(UNFIT_MAX) {
                reason.push_str("; ");
                reason.push_str(other);
            }
            return Err(reason);
        }
        Ok(Self(keys))
    }

    /// Returns the number of keys.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns whether a key has this id.
    pub(super) fn has(&self, id: &str) -> bool {
        self.0.iter().any(|key| key.id.as_deref() == Some(id))
    }

    /// Returns the keys that may have signed the token with this header, if its algorithm is one of
    /// the `allowed`.
    pub(super) fn find(
        &self,
        header: &Header,
        allowed: &[config::Algorithm],
    ) -> Option<Fitting<'_>> {
        // The allowed algorithms may have changed since the keys were read.
        let mut allowed = allowed.iter().copied().map(algorithm);
        let algorithm = allowed.find(|allowed| is_name_of(&header.alg, *allowed))?;
        let fitting = self.0.iter().filter(|key| key.algorithms.contains(&algorithm));
        let keys: Vec<_> = match &header.kid {
            // Some issuers replace their key and keep its id.
            Some(id) => {
                fitting.filter(|key| key.id.as_ref() == Some(id)).take(SAME_ID_MAX).collect()
            }
            None => fitting.collect(),
        };
        // A missing id requires a single key.
        let is_known = if header.kid.is_some() { !keys.is_empty() } else { keys.len() == 1 };
        is_known.then_some(Fitting { algorithm, keys })
    }
}

impl Key {
    /// Reads a public key for this algorithm, and its thumbprint (RFC 7638) by SHA-256.
    pub(super) fn with_thumbprint(
        json: &Value,
        algorithm: Algorithm,
    ) -> Result<(Self, String), String> {
        let key = Self::read(json, &[algorithm])?.map_err(str::to_owned)?;
        let members: &[&str] = match algorithm.family() {
            AlgorithmFamily::Rsa => &["e", "kty", "n"],
            AlgorithmFamily::Ec => &["crv", "kty", "x", "y"],
            AlgorithmFamily::Ed => &["crv", "kty", "x"],
            AlgorithmFamily::Hmac => return Err("it is a shared secret".to_owned()),
        };
        let members = members.iter().map(|name| format!("\"{name}\":{}", json[*name]));
        let canonical = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
        let Digest(thumbprint) = Digest::of(canonical.as_bytes());
        Ok((key, URL_SAFE_NO_PAD.encode(thumbprint)))
    }

    /// Reads a key; the inner error says why it fits none of the `allowed` algorithms.
    fn read(json: &Value, allowed: &[Algorithm]) -> Result<Result<Self, &'static str>, String> {
        if let Some(member) = private_member(json) {
            return Err(format!(
                "it is secret, since it has the member `{member}`: remove its private members here, and use a new key, since this one may be known"
            ));
        }
        let jwk = Jwk::deserialize(json).map_err(|error| error.to_string())?;
        let algorithms = match algorithms(&jwk, json, allowed) {
            Ok(algorithms) => algorithms,
            Err(unfit) => return Ok(Err(unfit)),
        };
        if let AlgorithmParameters::RSA(rsa) = &jwk.algorithm {
            check_bits(rsa)?;
        }
        let key = DecodingKey::from_jwk(&jwk).map_err(|error| error.to_string())?;
        Ok(Ok(Self { id: jwk.common.key_id, algorithms, key }))
    }
}

/// Returns a private member of a key.
pub(super) fn private_member(json: &Value) -> Option<&'static str> {
    PRIVATE_MEMBERS.into_iter().find(|member| json.get(member).is_some())
}

/// Returns the name of a key in errors.
fn name(json: &Value, at: usize) -> String {
    match json.get("kid").and_then(Value::as_str) {
        Some(id) => format!("key `{id}`"),
        None => format!("key {} of the list, which has no id", at + 1),
    }
}

fn check_bits(rsa: &RSAKeyParameters) -> Result<(), String> {
    let modulus = URL_SAFE_NO_PAD.decode(&rsa.n).map_err(|_| "`n` is not base64url".to_owned())?;
    let zeros = modulus.iter().take_while(|byte| **byte == 0).count();
    let top = modulus.get(zeros).map_or(0, |byte| byte.leading_zeros() as usize);
    let bits = (modulus.len() - zeros) * 8 - top;
    if (RSA_BITS_MIN..=RSA_BITS_MAX).contains(&bits) {
        return Ok(());
    }
    Err(format!(
        "its {bits} bits are not accepted: use an RSA key of {RSA_BITS_MIN} to {RSA_BITS_MAX} bits"
    ))
}

/// Returns the allowed algorithms that `jwk` is a key for.
fn algorithms(
    jwk: &Jwk,
    json: &Value,
    allowed: &[Algorithm],
) -> Result<Vec<Algorithm>, &'static str> {
    let common = &jwk.common;
    if !matches!(common.public_key_use, None | Some(PublicKeyUse::Signature)) {
        return Err("its `use` is not `sig`");
    }
    let operations = common.key_operations.as_ref();
    if operations.is_some_and(|all| !all.contains(&KeyOperations::Verify)) {
        return Err("its `key_ops` has no `verify`");
    }
    let named = json.get("alg").and_then(Value::as_str);
    let fits = |algorithm: &Algorithm| {
        let same_kind = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => algorithm.family() == AlgorithmFamily::Rsa,
            AlgorithmParameters::EllipticCurve(key) => match key.curve {
                EllipticCurve::P256 => *algorithm == Algorithm::ES256,
                EllipticCurve::P384 => *algorithm == Algorithm::ES384,
                _ => false,
            },
            AlgorithmParameters::OctetKeyPair(key) => {
                *algorithm == Algorithm::EdDSA && key.curve == EllipticCurve::Ed25519
            }
            // A shared secret has no place in a file of public keys.
            _ => false,
        };
        same_kind && named.is_none_or(|named| is_name_of(named, *algorithm))
    };
    let fitting: Vec<_> = allowed.iter().copied().filter(fits).collect();
    if fitting.is_empty() { Err("its type or its `alg` is for none of them") } else { Ok(fitting) }
}

/// Returns whether a name in a key or a token is that of an algorithm. EdDSA has one curve here,
/// and RFC 9864 gives it the name of the curve.
fn is_name_of(name: &str, algorithm: Algorithm) -> bool {
    name == format!("{algorithm:?}") || (name == "Ed25519" && algorithm == Algorithm::EdDSA)
}

fn algorithm(algorithm: config::Algorithm) -> Algorithm {
    match algorithm {
        config::Algorithm::EdDSA | config::Algorithm::Ed25519 => Algorithm::EdDSA,
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
