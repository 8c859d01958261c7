//! Signatures of an RSA key for its certificate.
//!
//! russh announces a certificate of a key file as `ssh-rsa-cert-v01`, which stands for SHA-1 and which
//! servers refuse. Its interface for signers lets the caller name the hash.

use russh::keys::agent::AgentIdentity;
use russh::keys::signature::Signer as _;
use russh::keys::ssh_encoding::Encode;
use russh::keys::ssh_key::Signature;
use russh::keys::ssh_key::private::KeypairData;
use russh::keys::{Error, HashAlg, PrivateKey, ssh_key};
use russh::{AgentAuthError, Signer};

/// Signs with a key in memory.
pub(super) struct Signing {
    pub(super) key: PrivateKey,
}

impl Signer for Signing {
    type Error = AgentAuthError;

    async fn auth_sign(
        &mut self,
        _: &AgentIdentity,
        hash: Option<HashAlg>,
        mut message: Vec<u8>,
    ) -> Result<Vec<u8>, Self::Error> {
        let signature = self.sign(hash, &message).map_err(Error::from)?;
        let mut encoded = Vec::new();
        signature.encode(&mut encoded).map_err(Error::from)?;
        // The answer is the message, followed by the signature as one string.
        encoded.encode(&mut message).map_err(Error::from)?;
        Ok(message)
    }
}

impl Signing {
    fn sign(&self, hash: Option<HashAlg>, message: &[u8]) -> Result<Signature, ssh_key::Error> {
        let signature = match self.key.key_data() {
            KeypairData::Rsa(pair) => (pair, hash).try_sign(message)?,
            _ => self.key.try_sign(message)?,
        };
        Ok(signature)
    }
}
