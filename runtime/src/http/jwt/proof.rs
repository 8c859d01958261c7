//! The proof that a request comes from the caller whose key its token is bound to (DPoP, RFC 9449).
//!
//! A proof is a small token in the header `DPoP`, signed with the caller's own key, for one
//! request: its method, its URL, its token, and a time. Each proof is accepted once.

use axum::http::{HeaderMap, HeaderName};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::Algorithm;
use relay_bundle::Digest;
use relay_machine::clock;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::claims::Claims;
use super::error::TokenError;
use super::issuer::Checked;
use super::keys::{Key, private_member};
use super::replays::{Replays, Used};
use super::signature;
use super::token::Parts;
use crate::http::request_url;

/// The algorithms of proofs, by their names.
pub(crate) const ALGORITHMS: [(&str, Algorithm); 10] = [
    ("ES256", Algorithm::ES256),
    ("ES384", Algorithm::ES384),
    ("EdDSA", Algorithm::EdDSA),
    ("Ed25519", Algorithm::EdDSA),
    ("PS256", Algorithm::PS256),
    ("PS384", Algorithm::PS384),
    ("PS512", Algorithm::PS512),
    ("RS256", Algorithm::RS256),
    ("RS384", Algorithm::RS384),
    ("RS512", Algorithm::RS512),
];

const HEADER: HeaderName = HeaderName::from_static("dpop");
const TYPE: &str = "dpop+jwt";
/// The most bytes of a proof.
const BYTES_MAX: usize = 8 << 10;
/// The most bytes of the id of a proof.
const ID_BYTES_MAX: usize = 256;
/// The age up to which a proof counts, with the difference between clocks.
const AGE_S_MAX: u64 = 90;
/// The time by which a proof may be ahead of the clock.
const AHEAD_S_MAX: u64 = 30;

/// The parts of a request that a proof covers.
pub(crate) struct Asked<'r> {
    pub(crate) headers: &'r HeaderMap,
    pub(crate) method: &'r str,
    /// The path at this server.
    pub(crate) path: &'r str,
}

#[derive(Deserialize)]
struct Header {
    typ: Option<String>,
    alg: String,
    jwk: Option<Value>,
    crit: Option<IgnoredAny>,
}

/// Checks the proof of a request with this token, whose key has the thumbprint `bound_to`.
pub(super) fn check(
    asked: &Asked<'_>,
    token: &str,
    checked: &Checked,
    bound_to: &str,
    replays: &Replays,
) -> Result<(), TokenError> {
    let parts = parts(asked.headers)?;
    let thumbprint = signer(&parts)?;
    if thumbprint != bound_to {
        return reject(
            "the proof (`DPoP`) is of another key than the one that the token is bound to",
        );
    }
    let claims = Claims(parts.claims);
    if text(&claims, "htm")?.as_deref() != Some(asked.method) {
        return reject("the proof (`DPoP`) is for another method (`htm`)");
    }
    let own = request_url::normal(&request_url::of(checked.issuer.resource(), asked.path));
    let url = text(&claims, "htu")?.and_then(|url| request_url::normal(&url));
    if url.is_none() || url != own {
        return reject("the proof (`DPoP`) is for another URL (`htu`)");
    }
    let now = clock::unix_seconds();
    let issued = claims.time("iat").map_err(malformed)?;
    let Some(issued) = issued else { return reject("the proof (`DPoP`) has no `iat`") };
    if issued > now.saturating_add(AHEAD_S_MAX) {
        return reject("the proof (`DPoP`) is from the future (`iat`)");
    }
    let end = issued.saturating_add(AGE_S_MAX);
    if end <= now {
        return reject("the proof (`DPoP`) is too old (`iat`)");
    }
    let Digest(hash) = Digest::of(token.as_bytes());
    if text(&claims, "ath")? != Some(URL_SAFE_NO_PAD.encode(hash)) {
        return reject("the proof (`DPoP`) is for another token (`ath`)");
    }
    let Some(id) = text(&claims, "jti")? else {
        return reject("the proof (`DPoP`) has no `jti`");
    };
    if id.len() > ID_BYTES_MAX {
        return reject("the proof (`DPoP`) has a `jti` that is too long");
    }
    let proof = Digest::of(format!("{thumbprint} {id}").as_bytes());
    // Last, so that only valid proofs are remembered.
    match replays.add(&checked.principal, proof, end, now) {
        Used::First => Ok(()),
        Used::Again => reject("the proof (`DPoP`) was used before (`jti`)"),
        Used::TooMany(reason) => Err(TokenError::too_many_proofs(reason)),
    }
}

fn parts(headers: &HeaderMap) -> Result<Parts<'_, Header>, TokenError> {
    let mut proofs = headers.get_all(HEADER).iter();
    let proof = match (proofs.next(), proofs.next()) {
        (Some(proof), None) => proof,
        (None, _) => {
            return reject(
                "the token is bound to a key, and the request has no proof of it (`DPoP`)",
            );
        }
        (Some(_), Some(_)) => return reject("the request has more than one proof (`DPoP`)"),
    };
    let proof = proof.to_str().map_err(|error| malformed(error.to_string()))?;
    if proof.len() > BYTES_MAX {
        return reject("the proof (`DPoP`) is too long");
    }
    Parts::of(proof).map_err(|TokenError { detail, .. }| malformed(detail))
}

/// Checks the header and the signature of a proof; returns the thumbprint of its key.
fn signer(parts: &Parts<'_, Header>) -> Result<String, TokenError> {
    let Parts { header, signed, claims: _, signature } = parts;
    if header.typ.as_deref() != Some(TYPE) {
        return reject("the proof (`DPoP`) is of another type (`typ`) than dpop+jwt");
    }
    if header.crit.is_some() {
        return reject("the proof (`DPoP`) has critical header fields");
    }
    let accepted = ALGORITHMS.iter().find(|(name, _)| *name == header.alg);
    let Some((_, algorithm)) = accepted else {
        return reject(
            "the proof (`DPoP`) has an algorithm (`alg`) that this server does not accept",
        );
    };
    let Some(jwk) = &header.jwk else { return reject("the proof (`DPoP`) has no key (`jwk`)") };
    if private_member(jwk).is_some() {
        return reject("the proof (`DPoP`) holds a private key or a shared secret (`jwk`)");
    }
    let (key, thumbprint) = Key::with_thumbprint(jwk, *algorithm).map_err(|detail| {
        let reason = "the proof (`DPoP`) has no usable public key for its algorithm (`jwk`)";
        TokenError::bad_proof(reason, detail)
    })?;
    if !signature::is_valid(*algorithm, &key.key, signed.as_bytes(), signature) {
        return reject("the signature of the proof (`DPoP`) is not valid");
    }
    Ok(thumbprint)
}

fn text(claims: &Claims, name: &str) -> Result<Option<String>, TokenError> {
    Ok(claims.text(name).map_err(malformed)?.map(ToOwned::to_owned))
}

fn malformed(detail: String) -> TokenError {
    TokenError::bad_proof("the proof (`DPoP`) is malformed", detail)
}

fn reject<T>(reason: &'static str) -> Result<T, TokenError> {
    Err(TokenError::bad_proof(reason, String::new()))
}
