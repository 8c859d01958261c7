//! Signatures of tokens are checked by `ring`, like those of TLS, so that the network side has one
//! implementation of cryptography. Only algorithms with a public key are supported.

use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};
use ring::signature as ring_signature;

/// Returns whether `signed` has this signature by a key.
pub(super) fn is_valid(
    algorithm: Algorithm,
    key: &DecodingKey,
    signed: &[u8],
    signature: &[u8],
) -> bool {
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
        _ => return false,
    };
    match (method, key.kind()) {
        _ if key.family() != algorithm.family() => false,
        (Method::Plain(algorithm), DecodingKeyKind::SecretOrDer(key)) => {
            let key = ring_signature::UnparsedPublicKey::new(algorithm, key);
            key.verify(signed, signature).is_ok()
        }
        (Method::Rsa(parameters), DecodingKeyKind::RsaModulusExponent { n, e }) => {
            let key = ring_signature::RsaPublicKeyComponents { n, e };
            key.verify(parameters, signed, signature).is_ok()
        }
        _ => false,
    }
}

enum Method {
    /// The key is one run of bytes.
    Plain(&'static dyn ring_signature::VerificationAlgorithm),
    /// The key is modulus and exponent.
    Rsa(&'static ring_signature::RsaParameters),
}
