//! The check of a host key or host certificate.
//!
//! russh has verified the signature of the key exchange, so the host holds the key. Whether the key is
//! the right one, and everything about a certificate, is decided here, from memory: the check runs
//! inside the task of the connection.

use std::sync::{Arc, Mutex, PoisonError};

use russh::keys::ssh_key::public::KeyData;
use russh::keys::{Algorithm, Certificate, EcdsaCurve, HashAlg, PublicKey, PublicKeyOrCertificate};

use super::error::ConnectFailure;
use crate::host_key::{HostKeyMode, HostKeyVerdict, HostKeys};
use crate::route::Hop;

/// The proof that the peer of one connection is the host.
pub(super) struct Proof {
    trust: Arc<dyn HostKeys>,
    mode: HostKeyMode,
    known_as: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The accepted key; another one in a later exchange is refused.
    accepted: Option<Vec<u8>>,
    /// Whether the accepted key is to be recorded.
    new: bool,
    refusal: Option<ConnectFailure>,
}

impl Proof {
    pub(super) fn new(hop: &Hop) -> Self {
        Self {
            trust: Arc::clone(&hop.trust),
            mode: hop.mode,
            known_as: hop.known_as.clone(),
            state: Mutex::default(),
        }
    }

    /// Returns the host key algorithms to offer, and those for certificates.
    pub(super) fn offer(&self) -> (Vec<Algorithm>, Vec<Algorithm>) {
        let known = match self.mode {
            HostKeyMode::Ignore => Vec::new(),
            HostKeyMode::Strict | HostKeyMode::AcceptNew => self.trust.algorithms(),
        };
        let keys = if known.is_empty() {
            every_algorithm()
        } else {
            known.iter().flat_map(|name| algorithms_named(name)).collect()
        };
        let certificates =
            if self.trust.authorities().is_empty() { Vec::new() } else { every_algorithm() };
        (keys, certificates)
    }

    /// Returns whether the key proves the host, and remembers the reason of a refusal.
    pub(super) fn check(&self, key: &PublicKeyOrCertificate) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(blob) = blob(key.public_key().key_data()) else { return false };
        if let Some(accepted) = &state.accepted {
            return *accepted == blob;
        }
        let judged = match key {
            PublicKeyOrCertificate::PublicKey { .. } => self.judge(&blob),
            PublicKeyOrCertificate::Certificate(certificate) => {
                self.judge_certificate(certificate, &blob)
            }
        };
        match judged {
            Ok(new) => {
                state.accepted = Some(blob);
                state.new = new;
                true
            }
            Err(refusal) => {
                state.refusal = Some(refusal);
                false
            }
        }
    }

    /// Returns the reason why the key was refused.
    pub(super) fn refusal(&self) -> Option<ConnectFailure> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).refusal.clone()
    }

    /// Returns the accepted key in wire form, and whether it is to be recorded.
    pub(super) fn accepted(&self) -> Option<(Vec<u8>, bool)> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.accepted.clone().map(|key| (key, state.new))
    }

    /// Judges a plain key. True: the host is new.
    fn judge(&self, key: &[u8]) -> Result<bool, ConnectFailure> {
        let (fingerprint, algorithm) = described(key);
        match (self.trust.verdict(key), self.mode) {
            (HostKeyVerdict::Revoked { at }, _) => {
                Err(ConnectFailure::HostKeyRevoked { fingerprint, algorithm, at })
            }
            (HostKeyVerdict::Trusted, _) | (_, HostKeyMode::Ignore) => Ok(false),
            (HostKeyVerdict::Unknown, HostKeyMode::AcceptNew) => Ok(true),
            (HostKeyVerdict::Unknown, HostKeyMode::Strict) => {
                Err(ConnectFailure::HostKeyUnknown { fingerprint, algorithm })
            }
            (HostKeyVerdict::Changed { at }, _) => {
                Err(ConnectFailure::HostKeyChanged { fingerprint, algorithm, at })
            }
        }
    }

    /// Judges a certificate, or the key in it, which the host has proved to hold.
    fn judge_certificate(
        &self,
        certificate: &Certificate,
        key: &[u8],
    ) -> Result<bool, ConnectFailure> {
        let authority = blob(certificate.signature_key()).unwrap_or_default();
        for revocable in [key, &authority] {
            if let HostKeyVerdict::Revoked { at } = self.trust.verdict(revocable) {
                let (fingerprint, algorithm) = described(revocable);
                return Err(ConnectFailure::HostKeyRevoked { fingerprint, algorithm, at });
            }
        }
        match self.certificate_fault(certificate) {
            None => Ok(false),
            // An entry for the key itself proves the host as well.
            Some(_) if self.trust.verdict(key) == HostKeyVerdict::Trusted => Ok(false),
            Some(_) if self.mode == HostKeyMode::Ignore => Ok(false),
            Some(reason) => Err(ConnectFailure::HostCertificate { reason }),
        }
    }

    fn certificate_fault(&self, certificate: &Certificate) -> Option<String> {
        let authorities = self.trust.authorities();
        let known: Vec<_> = authorities
            .iter()
            .filter_map(|key| Some(PublicKey::from_bytes(key).ok()?.fingerprint(HashAlg::Sha256)))
            .collect();
        let authority = certificate.signature_key().fingerprint(HashAlg::Sha256);
        if !known.contains(&authority) {
            return Some(format!(
                "its authority {authority} has no @cert-authority entry for the host"
            ));
        }
        if !certificate.cert_type().is_host() {
            return Some("it is a user certificate".to_owned());
        }
        if certificate.validate(&known).is_err() {
            return Some("its signature or its period of validity is wrong".to_owned());
        }
        if !certificate.critical_options().is_empty() {
            return Some("it has critical options, and none is known for hosts".to_owned());
        }
        let principals = certificate.valid_principals();
        if !principals.iter().any(|name| name.eq_ignore_ascii_case(&self.known_as)) {
            let names = principals.join(", ");
            return Some(format!("it is for `{names}`, not for `{}`", self.known_as));
        }
        None
    }
}

/// Returns the algorithms for a key type in the names of RFC 4253. RSA with SHA-1 is left out.
pub(super) fn algorithms_named(name: &str) -> Vec<Algorithm> {
    match Algorithm::new(name) {
        Ok(Algorithm::Rsa { .. }) => rsa().to_vec(),
        Ok(Algorithm::Other(_)) | Err(_) => Vec::new(),
        Ok(algorithm) => vec![algorithm],
    }
}

/// Returns the host key algorithms, the preferred first.
fn every_algorithm() -> Vec<Algorithm> {
    let curves = [EcdsaCurve::NistP256, EcdsaCurve::NistP384, EcdsaCurve::NistP521];
    let ecdsa = curves.map(|curve| Algorithm::Ecdsa { curve });
    [Algorithm::Ed25519].into_iter().chain(ecdsa).chain(rsa()).collect()
}

fn rsa() -> [Algorithm; 2] {
    [HashAlg::Sha512, HashAlg::Sha256].map(|hash| Algorithm::Rsa { hash: Some(hash) })
}

fn blob(key: &KeyData) -> Option<Vec<u8>> {
    PublicKey::from(key.clone()).to_bytes().ok()
}

/// Returns the fingerprint and the type of a key.
fn described(key: &[u8]) -> (String, String) {
    match PublicKey::from_bytes(key) {
        Ok(key) => (key.fingerprint(HashAlg::Sha256).to_string(), key.algorithm().to_string()),
        Err(_) => ("unreadable".to_owned(), "unknown".to_owned()),
    }
}
