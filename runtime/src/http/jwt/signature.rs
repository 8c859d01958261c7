//! Signatures of tokens are checked by `ring`, as those of TLS are, so that the network side has one
//! implementation of cryptography. Only algorithms with a public key are supported.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::signature::{self, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::signature as ring_signature;

/// Makes `ring` check the signatures of this process.
pub(super) fn install() {
    // It fails if it is installed already, by another server in this process (a test).
    _ = PROVIDER.install_default();
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
