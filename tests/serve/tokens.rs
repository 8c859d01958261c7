//! Tokens signed as authorization servers do: RSA and elliptic curves.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256, RSA_PSS_SHA256,
    RsaKeyPair, RsaPublicKeyComponents,
};
use serde_json::{Value, json};
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;

use super::auth::signed_part;

/// The private key of an authorization server. Its id is `key` in any key set.
pub(super) enum Signer {
    Rsa(RsaKeyPair),
    Curve(EcdsaKeyPair),
}

impl Signer {
    /// The one RSA key of these tests: `ring` makes none.
    pub(super) fn rsa() -> Self {
        let pem = include_bytes!("jwt/rsa-key.pem");
        let der = PrivateKeyDer::from_pem_slice(pem).expect("a key");
        Self::Rsa(RsaKeyPair::from_pkcs8(der.secret_der()).expect("an RSA key"))
    }

    /// A new key on the curve P-256.
    pub(super) fn curve() -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let der = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        Self::Curve(EcdsaKeyPair::from_pkcs8(algorithm, der.as_ref(), &random).expect("a key"))
    }

    /// The key set with the public half.
    pub(super) fn jwks(&self) -> String {
        let base64 = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let key = match self {
            Self::Rsa(pair) => {
                let RsaPublicKeyComponents { n, e } =
                    RsaPublicKeyComponents::<Vec<u8>>::from(pair.public());
                json!({ "kty": "RSA", "kid": "key", "n": base64(&n), "e": base64(&e) })
            }
            Self::Curve(pair) => {
                // The point is uncompressed: a 4, then x and y.
                let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
                json!({ "kty": "EC", "crv": "P-256", "kid": "key", "x": base64(x), "y": base64(y) })
            }
        };
        json!({ "keys": [key] }).to_string()
    }

    /// A token of these claims; `algorithm` is one that the key is for.
    pub(super) fn token(&self, algorithm: &str, claims: &Value) -> String {
        self.sign(&json!({ "alg": algorithm, "typ": "JWT", "kid": "key" }), claims)
    }

    /// The same with this header.
    pub(super) fn sign(&self, header: &Value, claims: &Value) -> String {
        let signed = signed_part(header, claims);
        let random = SystemRandom::new();
        let signature = match self {
            Self::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                let padding: &dyn ring::signature::RsaEncoding =
                    if header["alg"] == "PS256" { &RSA_PSS_SHA256 } else { &RSA_PKCS1_SHA256 };
                pair.sign(padding, &random, signed.as_bytes(), &mut signature).expect("it signs");
                signature
            }
            Self::Curve(pair) => {
                pair.sign(&random, signed.as_bytes()).expect("it signs").as_ref().to_vec()
            }
        };
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}
