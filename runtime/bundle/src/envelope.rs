//! The signature envelope: DSSE 1.0 around an in-toto statement.
//!
//! The envelope lies after the signed bytes, so adding a signature keeps the bundle's digest. Every
//! signature also covers the payload type (DSSE's pre-authentication encoding), so an envelope of
//! another kind can never be accepted as one of these.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::bundle::Bundle;
use crate::digest::Digest;
use crate::format::{ENVELOPE_BYTES_MAX, FORMAT_MAJOR, FORMAT_MINOR};
use crate::manifest::Manifest;

/// The payload type of a bundle's envelope.
pub const PAYLOAD_TYPE: &str = "application/vnd.relay.bundle.v1+json";
/// The type of the in-toto statement.
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
/// The type of the statement's predicate.
pub const PREDICATE_TYPE: &str = "https://relay.dev/bundle/v1";

/// The most signatures of an envelope.
pub(crate) const SIGNATURES_MAX: usize = 64;

/// A DSSE envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Envelope {
    /// The type of the payload.
    pub payload_type: String,
    /// The statement, in base64.
    pub payload: String,
    /// Signatures over payload type and payload.
    pub signatures: Vec<Signature>,
}

/// One signature of an envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// The id of the signing key, as a hint: only the signature itself proves the key.
    pub keyid: String,
    /// The Ed25519 signature, in base64.
    pub sig: String,
}

/// The in-toto statement of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Statement {
    /// Always [`STATEMENT_TYPE`].
    #[serde(rename = "_type")]
    pub statement_type: String,
    /// The only bundle of the statement.
    pub subject: Vec<Subject>,
    /// Always [`PREDICATE_TYPE`].
    pub predicate_type: String,
    /// The claims about it.
    pub predicate: Predicate,
}

/// The subject of a statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// The project's name.
    pub name: String,
    /// The bundle's digest.
    pub digest: SubjectDigest,
}

/// The digest of a subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubjectDigest {
    /// 64 hexadecimal digits.
    pub sha256: String,
}

/// The claims of a statement about a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predicate {
    /// The bundle format, `major.minor`.
    pub format: String,
    /// The project's name.
    pub project: String,
    /// The project's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The bundle's epoch.
    pub epoch: u64,
    /// The compiler's version.
    pub compiler: String,
}

/// An error of reading or making an envelope.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EnvelopeError {
    /// The bundle is unsigned: its envelope is empty.
    #[error("the bundle is not signed: sign it with `relay sign BUNDLE --key FILE`")]
    Missing,
    /// The envelope is malformed.
    #[error("the signature envelope is not valid: {reason}; sign the bundle again")]
    Malformed {
        /// The fault in it.
        reason: String,
    },
    /// The envelope has another payload type.
    #[error(
        "the envelope signs `{found}`, not a relay bundle (`{PAYLOAD_TYPE}`): sign the bundle with `relay sign`"
    )]
    PayloadType {
        /// Its payload type.
        found: String,
    },
    /// The statement is about another bundle, or about something else.
    #[error(
        "the signed statement is not about this bundle ({what} differs): sign this bundle itself"
    )]
    Statement {
        /// The field that differs.
        what: &'static str,
    },
    /// The envelope is full.
    #[error(
        "the envelope has {SIGNATURES_MAX} signatures, the most there can be: build and sign the bundle again"
    )]
    TooManySignatures,
}

impl Envelope {
    /// Reads the envelope of `bundle`.
    ///
    /// # Errors
    ///
    /// The envelope is missing, or differs from the JSON of an envelope with at most 64 signatures.
    pub fn of(bundle: &Bundle) -> Result<Self, EnvelopeError> {
        match bundle.envelope_bytes() {
            [] => Err(EnvelopeError::Missing),
            bytes => Self::parse(bytes),
        }
    }

    /// Reads an envelope from its JSON, in a bundle or in a detached file.
    ///
    /// # Errors
    ///
    /// The bytes differ from the JSON of an envelope with at most 64 signatures.
    pub fn parse(bytes: &[u8]) -> Result<Self, EnvelopeError> {
        let malformed = |reason: String| EnvelopeError::Malformed { reason };
        if bytes.len() > ENVELOPE_BYTES_MAX {
            return Err(malformed(format!("more than {ENVELOPE_BYTES_MAX} bytes")));
        }
        let envelope: Self =
            serde_json::from_slice(bytes).map_err(|error| malformed(error.to_string()))?;
        if envelope.signatures.len() > SIGNATURES_MAX {
            return Err(malformed(format!("more than {SIGNATURES_MAX} signatures")));
        }
        Ok(envelope)
    }

    /// Makes an unsigned envelope for `bundle`.
    ///
    /// # Errors
    ///
    /// Serialisation is fallible by type only.
    pub fn unsigned(bundle: &Bundle) -> Result<Self, EnvelopeError> {
        let Manifest { project, version, compiler, .. } = bundle.manifest().clone();
        let statement = Statement {
            statement_type: STATEMENT_TYPE.into(),
            subject: vec![Subject {
                name: project.value.clone(),
                digest: SubjectDigest { sha256: bundle.digest().hex() },
            }],
            predicate_type: PREDICATE_TYPE.into(),
            predicate: Predicate {
                format: format!("{FORMAT_MAJOR}.{FORMAT_MINOR}"),
                project: project.value,
                version: version.map(|version| version.value),
                epoch: bundle.epoch(),
                compiler,
            },
        };
        let json = serde_json::to_vec(&statement)
            .map_err(|error| EnvelopeError::Malformed { reason: error.to_string() })?;
        Ok(Self {
            payload_type: PAYLOAD_TYPE.into(),
            payload: STANDARD.encode(json),
            signatures: Vec::new(),
        })
    }

    /// Adds the signature of `key`, in place of an earlier one by the same key.
    ///
    /// # Errors
    ///
    /// The payload is invalid base64, or the envelope already has signatures of 64 other keys.
    pub fn sign(&mut self, key: &SigningKey) -> Result<(), EnvelopeError> {
        let signature = key.sign(&self.signed_bytes()?);
        let keyid = key_id(&key.verifying_key());
        self.signatures.retain(|signature| signature.keyid != keyid);
        if self.signatures.len() >= SIGNATURES_MAX {
            return Err(EnvelopeError::TooManySignatures);
        }
        let sig = STANDARD.encode(signature.to_bytes());
        self.signatures.push(Signature { keyid, sig });
        // Sorting makes the bytes independent of the order of signing.
        self.signatures.sort_by(|a, b| a.keyid.cmp(&b.keyid));
        Ok(())
    }

    /// Returns the bytes that a signature covers: DSSE's pre-authentication encoding.
    ///
    /// # Errors
    ///
    /// The payload is invalid base64.
    pub fn signed_bytes(&self) -> Result<Vec<u8>, EnvelopeError> {
        let payload = self.payload()?;
        let mut bytes =
            format!("DSSEv1 {} {} {} ", self.payload_type.len(), self.payload_type, payload.len())
                .into_bytes();
        bytes.extend_from_slice(&payload);
        Ok(bytes)
    }

    /// Returns the statement after checking that it is about the bundle with this digest.
    ///
    /// # Errors
    ///
    /// The payload type, the statement's types or its subject differ.
    pub fn statement(&self, digest: Digest) -> Result<Statement, EnvelopeError> {
        if self.payload_type != PAYLOAD_TYPE {
            return Err(EnvelopeError::PayloadType { found: self.payload_type.clone() });
        }
        let statement: Statement = serde_json::from_slice(&self.payload()?)
            .map_err(|error| EnvelopeError::Malformed { reason: error.to_string() })?;
        if statement.statement_type != STATEMENT_TYPE {
            return Err(EnvelopeError::Statement { what: "the statement's type" });
        }
        if statement.predicate_type != PREDICATE_TYPE {
            return Err(EnvelopeError::Statement { what: "the predicate's type" });
        }
        match statement.subject.as_slice() {
            [subject] if subject.digest.sha256 == digest.hex() => Ok(statement),
            _ => Err(EnvelopeError::Statement { what: "the digest" }),
        }
    }

    /// Returns the envelope's JSON, for a bundle and for a detached file.
    ///
    /// # Errors
    ///
    /// Serialisation is fallible by type only.
    pub fn to_json(&self) -> Result<Vec<u8>, EnvelopeError> {
        serde_json::to_vec(self)
            .map_err(|error| EnvelopeError::Malformed { reason: error.to_string() })
    }

    fn payload(&self) -> Result<Vec<u8>, EnvelopeError> {
        STANDARD
            .decode(&self.payload)
            .map_err(|error| EnvelopeError::Malformed { reason: format!("payload: {error}") })
    }
}

impl Signature {
    /// Returns whether `key` made this signature over `signed`.
    ///
    /// The check is the strict one: keys and signatures of small order are refused.
    #[must_use]
    pub fn verify(&self, key: &VerifyingKey, signed: &[u8]) -> bool {
        let Ok(bytes) = STANDARD.decode(&self.sig) else { return false };
        let Ok(signature) = ed25519_dalek::Signature::from_slice(&bytes) else { return false };
        key.verify_strict(signed, &signature).is_ok()
    }
}

/// Returns the id of a key: the first 16 hexadecimal digits of the SHA-256 of its 32 bytes.
#[must_use]
pub fn key_id(key: &VerifyingKey) -> String {
    let Digest(bytes) = Digest::of(key.as_bytes());
    base16ct::lower::encode_string(bytes.get(..8).unwrap_or_default())
}

/// Returns the bytes of `bundle` with `envelope` in place of its own envelope.
///
/// # Errors
///
/// The envelope cannot be written as JSON.
pub fn attach(bundle: &Bundle, envelope: &Envelope) -> Result<Vec<u8>, EnvelopeError> {
    Ok([bundle.content_bytes(), &tail(Some(envelope))?].concat())
}

/// Returns the bytes of a file after the [content](Bundle::content_bytes) of its bundle: the
/// envelope and its length. Without an envelope the bundle is unsigned.
///
/// # Errors
///
/// The envelope cannot be written as JSON.
pub fn tail(envelope: Option<&Envelope>) -> Result<Vec<u8>, EnvelopeError> {
    let json = envelope.map(Envelope::to_json).transpose()?.unwrap_or_default();
    Ok([&(json.len() as u64).to_le_bytes()[..], &json].concat())
}
