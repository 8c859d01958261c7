//! The trusted signers: the policy of the verifier, independent of the bundle.

mod file;
mod time;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use thiserror::Error;

pub use self::file::{PublicKey, Revoked, Trust, TrustFileError, TrustedKey};
pub use self::time::Time;

use crate::bundle::Bundle;
use crate::digest::Digest;
use crate::envelope::{Envelope, EnvelopeError};

/// The state of one signature of an envelope after a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureReport {
    /// The key id in the signature.
    pub keyid: String,
    /// The name of the trusted key with that id, if any.
    pub name: Option<String>,
    /// Whether it counts, or the reason for ignoring it.
    pub state: SignatureState,
}

/// Whether a signature counts, or the reason for ignoring it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureState {
    /// It counts.
    Good,
    /// The key is absent from the trust file.
    UnknownKey,
    /// The key is revoked.
    Revoked,
    /// The key becomes valid later.
    NotYetValid,
    /// The validity of the key has ended.
    Expired,
    /// The signature differs from one by this key over this envelope.
    Bad,
    /// The same key has signed already; it counts once.
    Duplicate,
}

/// A bundle that the trust policy accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The report on each signature.
    pub signatures: Vec<SignatureReport>,
}

/// The reason for refusing a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The envelope is missing, malformed or about something else.
    #[error(transparent)]
    Envelope(#[from] EnvelopeError),
    /// The bundle's digest is revoked.
    #[error("bundle {digest} is revoked by the trust file: deploy another one")]
    RevokedDigest {
        /// The bundle's digest.
        digest: Digest,
    },
    /// Too few signatures count.
    #[error(
        "{good} of {needed} signatures that the trust file requires{}; {}",
        listed(signatures),
        sign_or_trust(&"BUNDLE", &"TRUST.toml")
    )]
    BelowThreshold {
        /// The number of signatures that count.
        good: u32,
        /// The required number.
        needed: u32,
        /// The report on each signature.
        signatures: Vec<SignatureReport>,
    },
    /// Too few of the signatures that count have a role.
    #[error(
        "{good} of {needed} signatures with role `{role}` that the trust file requires{}; have one more such key sign",
        listed(signatures)
    )]
    MissingRole {
        /// The role.
        role: String,
        /// The number of signatures with the role that count.
        good: u32,
        /// The required number.
        needed: u32,
        /// The report on each signature.
        signatures: Vec<SignatureReport>,
    },
    /// The bundle's epoch is below the trust file's minimum.
    #[error(
        "bundle epoch {epoch} is below the trust file's min-epoch {min_epoch}: deploy a newer bundle"
    )]
    BelowMinEpoch {
        /// The bundle's epoch.
        epoch: u64,
        /// The trust file's minimum.
        min_epoch: u64,
    },
    /// A newer bundle of this project was served before.
    #[error(
        "bundle epoch {epoch} is older than {seen}, which this server has served before: deploy a newer bundle, or name `{digest}` in the trust file's allow-digests to roll back, as `relay trust allow` does"
    )]
    Downgrade {
        /// The bundle's epoch.
        epoch: u64,
        /// The highest epoch seen.
        seen: u64,
        /// The bundle's digest.
        digest: Digest,
    },
    /// The trust file itself is invalid.
    #[error("the trust file is not valid: {0}")]
    File(#[from] TrustFileError),
    /// The bundle belongs to another project than the one in the trust file.
    #[error(
        "the bundle is of project `{project}`, and the trust file accepts only project `{pinned}`: deploy a bundle of `{pinned}`"
    )]
    OtherProject {
        /// The bundle's project.
        project: String,
        /// The project in the trust file.
        pinned: String,
    },
}

/// Checks whether `bundle` may be served under `trust` at the time `now` (seconds since 1970).
///
/// Signatures are checked over the exact bytes of the envelope; then the statement must be about
/// this bundle's digest. The downgrade check, which needs the highest epoch seen, is
/// [`check_downgrade`].
///
/// # Errors
///
/// The bundle is refused: see [`TrustError`].
pub fn verify(bundle: &Bundle, trust: &Trust, now: u64) -> Result<Accepted, TrustError> {
    let digest = bundle.digest();
    not_revoked(digest, trust)?;
    let envelope = Envelope::of(bundle)?;
    verify_envelope(&envelope, digest, trust, now).and_then(|accepted| {
        let project = &bundle.manifest().project.value;
        if let Some(pinned) = trust.project.as_ref().filter(|pinned| *pinned != project) {
            let (project, pinned) = (project.clone(), pinned.clone());
            return Err(TrustError::OtherProject { project, pinned });
        }
        if bundle.epoch() < trust.min_epoch {
            return Err(TrustError::BelowMinEpoch {
                epoch: bundle.epoch(),
                min_epoch: trust.min_epoch,
            });
        }
        Ok(accepted)
    })
}

/// Checks whether `envelope` has the signatures that `trust` requires for `digest`.
///
/// # Errors
///
/// As [`verify`], except for the checks that need the bundle itself.
pub fn verify_envelope(
    envelope: &Envelope,
    digest: Digest,
    trust: &Trust,
    now: u64,
) -> Result<Accepted, TrustError> {
    trust.check()?;
    not_revoked(digest, trust)?;
    let keys = trust.keys_by_id()?;
    let signed = envelope.signed_bytes()?;
    envelope.statement(digest)?;

    let mut counted: BTreeMap<&str, &TrustedKey> = BTreeMap::new();
    let mut signatures = Vec::with_capacity(envelope.signatures.len());
    for signature in &envelope.signatures {
        let key = keys.get(&signature.keyid).copied();
        let state = match key {
            None => SignatureState::UnknownKey,
            Some(_) if trust.revoked.keys.contains(&signature.keyid) => SignatureState::Revoked,
            Some(key) if key.not_before.is_some_and(|Time(from)| now < from) => {
                SignatureState::NotYetValid
            }
            Some(key) if key.not_after.is_some_and(|Time(until)| now >= until) => {
                SignatureState::Expired
            }
            Some(key) if !signature.verify(&key.public.0, &signed) => SignatureState::Bad,
            Some(_) if counted.contains_key(signature.keyid.as_str()) => SignatureState::Duplicate,
            Some(key) => {
                counted.insert(&signature.keyid, key);
                SignatureState::Good
            }
        };
        signatures.push(SignatureReport {
            keyid: signature.keyid.clone(),
            name: key.map(|key| key.name.clone()),
            state,
        });
    }

    let good = u32::try_from(counted.len()).unwrap_or(u32::MAX);
    if good < trust.threshold {
        return Err(TrustError::BelowThreshold { good, needed: trust.threshold, signatures });
    }
    for (role, needed) in &trust.require {
        let with_role = counted.values().filter(|key| key.roles.contains(role)).count();
        let good = u32::try_from(with_role).unwrap_or(u32::MAX);
        if good < *needed {
            return Err(TrustError::MissingRole {
                role: role.clone(),
                good,
                needed: *needed,
                signatures,
            });
        }
    }
    Ok(Accepted { signatures })
}

/// Returns the time at which a bundle accepted by `trust` at the time `now` is refused because a
/// key expires, with the error.
#[must_use]
pub fn expiry(bundle: &Bundle, trust: &Trust, now: u64) -> Option<(Time, TrustError)> {
    let ends: BTreeSet<Time> = trust.keys.iter().filter_map(|key| key.not_after).collect();
    let ends = ends.into_iter().filter(|Time(end)| *end > now);
    ends.map(|end| (end, verify(bundle, trust, end.0)))
        .find_map(|(end, checked)| Some((end, checked.err()?)))
}

/// Checks that the epoch of `bundle` is at least `seen`, the highest epoch that was served before.
///
/// # Errors
///
/// [`TrustError::Downgrade`], unless the trust file names the bundle's digest.
pub fn check_downgrade(bundle: &Bundle, trust: &Trust, seen: u64) -> Result<(), TrustError> {
    let (epoch, digest) = (bundle.epoch(), bundle.digest());
    if epoch >= seen || trust.allow_digests.contains(&digest) {
        return Ok(());
    }
    Err(TrustError::Downgrade { epoch, seen, digest })
}

impl TrustError {
    /// Returns whether the bundle, or a key that signed it, is revoked.
    #[must_use]
    pub fn is_revocation(&self) -> bool {
        match self {
            Self::RevokedDigest { .. } => true,
            Self::BelowThreshold { signatures, .. } | Self::MissingRole { signatures, .. } => {
                signatures.iter().any(|signature| signature.state == SignatureState::Revoked)
            }
            Self::Envelope(_)
            | Self::BelowMinEpoch { .. }
            | Self::Downgrade { .. }
            | Self::File(_)
            | Self::OtherProject { .. } => false,
        }
    }
}

fn not_revoked(digest: Digest, trust: &Trust) -> Result<(), TrustError> {
    if trust.revoked.digests.contains(&digest) {
        return Err(TrustError::RevokedDigest { digest });
    }
    Ok(())
}

/// Returns the commands that make a bundle trusted, with the names of the files.
#[must_use]
pub fn sign_or_trust(bundle: &dyn fmt::Display, trust: &dyn fmt::Display) -> String {
    format!(
        "sign it with a trusted key, `relay sign {bundle} --key FILE.key`, or trust its signer, `relay trust add {trust} --key FILE.pub`"
    )
}

impl TrustError {
    /// Returns the reason and the remedy, with the names of the files.
    #[must_use]
    pub fn in_files(&self, bundle: &dyn fmt::Display, trust: &dyn fmt::Display) -> String {
        match self {
            Self::BelowThreshold { good, needed, signatures } => format!(
                "{good} of {needed} signatures that the trust file `{trust}` requires{}; {}",
                listed(signatures),
                sign_or_trust(bundle, trust)
            ),
            _ => self.to_string(),
        }
    }
}

fn listed(signatures: &[SignatureReport]) -> String {
    if signatures.is_empty() {
        return " (the envelope holds none)".into();
    }
    let rows: Vec<String> = signatures.iter().map(ToString::to_string).collect();
    format!(" ({})", rows.join("; "))
}

impl fmt::Display for SignatureReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} `{name}`: {}", self.keyid, self.state),
            None => write!(f, "{}: {}", self.keyid, self.state),
        }
    }
}

impl fmt::Display for SignatureState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Good => "good",
            Self::UnknownKey => "key is not in the trust file",
            Self::Revoked => "key is revoked",
            Self::NotYetValid => "key is not valid yet",
            Self::Expired => "key has expired",
            Self::Bad => "signature does not match",
            Self::Duplicate => "same key again, counts once",
        })
    }
}
