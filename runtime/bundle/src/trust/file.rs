//! `trust.toml`: the types that read it, and the checks of its names.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::VerifyingKey;
use serde::{Deserialize, Deserializer};
use strsim::osa_distance;
use thiserror::Error;

use super::time::Time;
use crate::digest::Digest;
use crate::envelope::key_id;

const KEY_ID_DIGITS: usize = 16;
const PUBLIC_KEY_PREFIX: &str = "ed25519:";

/// The verifier's trust policy: the contents of `trust.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Trust {
    /// The version of the trust file itself. When it rises, the highest epoch seen is forgotten;
    /// the epoch of the bundle in force stays, unless the same change revokes it. So a huge epoch,
    /// signed with a stolen key, blocks later bundles only until then.
    pub version: u64,
    /// The project whose bundles are accepted. Unset: any project whose bundle is signed as required.
    #[serde(default)]
    pub project: Option<String>,
    /// How many different trusted keys must have signed.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    #[serde(default = "one")]
    pub threshold: u32,
    /// How many of the keys that signed must have a role, for each role that is named here. At least
    /// one key must have the role.
    #[serde(default)]
    pub require: BTreeMap<String, u32>,
    /// Bundles with a lower epoch are refused.
    #[serde(default)]
    pub min_epoch: u64,
    /// The keys that may sign.
    #[serde(default)]
    pub keys: Vec<TrustedKey>,
    /// Keys and bundles whose trust has ended.
    #[serde(default)]
    pub revoked: Revoked,
    /// Bundles that are accepted although a higher epoch was seen, to roll back to them, and
    /// although parts of them differ from those of their contents, as in one that another version
    /// of relay built.
    #[serde(default, deserialize_with = "each_once")]
    pub allow_digests: BTreeSet<Digest>,
}

/// A key that may sign.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TrustedKey {
    /// The name of the key in reports.
    pub name: String,
    /// The key's id, which is compared with that of `public`.
    #[serde(default)]
    pub id: Option<String>,
    /// The public key, as `relay keygen` prints it.
    pub public: PublicKey,
    /// The roles that its signatures count for: lower-case letters, digits and hyphens.
    #[serde(default, deserialize_with = "each_once")]
    pub roles: BTreeSet<String>,
    /// Its signatures count from this time on: a date, or a date and a time. A time that names no
    /// offset is in UTC.
    #[serde(default)]
    pub not_before: Option<Time>,
    /// Its signatures count until this time.
    #[serde(default)]
    pub not_after: Option<Time>,
}

/// Keys and bundles whose trust has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Revoked {
    /// Ids of keys. The keys stay in `[[keys]]`, so that a wrong id is an error.
    #[serde(default, deserialize_with = "each_once")]
    pub keys: BTreeSet<String>,
    /// Digests of bundles.
    #[serde(default, deserialize_with = "each_once")]
    pub digests: BTreeSet<Digest>,
}

/// An Ed25519 public key, written `ed25519:` and base64.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey(pub VerifyingKey);

/// An error in a readable trust file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TrustFileError {
    /// A threshold of zero would trust every bundle.
    #[error("threshold is 0, which would trust every bundle: set it to at least 1")]
    ZeroThreshold,
    /// A key's id differs from the id of its public key.
    #[error("key `{name}` has the id `{id}`, but the id of its public key is `{found}`")]
    KeyId {
        /// The name of the key in the file.
        name: String,
        /// The id in the file.
        id: String,
        /// The id of the public key.
        found: String,
    },
    /// Two entries have the same public key.
    #[error("one public key is listed as `{other}` and as `{name}`: keep one of them")]
    KeyTwice {
        /// The second name of the key in the file.
        name: String,
        /// Its first name.
        other: String,
    },
    /// The time of validity of a key is empty.
    #[error("key `{name}` is never valid: its not-after is not later than its not-before")]
    NeverValid {
        /// The name of the key in the file.
        name: String,
    },
    /// A revoked key is named by its name.
    #[error("revoked.keys names `{name}`, which is the name of a key: write its id, `{id}`")]
    RevokedName {
        /// The name of the key in the file.
        name: String,
        /// The id of the key.
        id: String,
    },
    /// A revocation names an unknown key.
    #[error(
        "revoked.keys names `{id}`, which is not the id of a key in this file{}; an id is the {KEY_ID_DIGITS} hexadecimal digits in lower case that `relay keygen` prints, and a revoked key keeps its entry in [[keys]]",
        suggested(nearest)
    )]
    RevokedUnknown {
        /// The id in the file.
        id: String,
        /// The most similar id.
        nearest: Option<String>,
    },
    /// A role has an invalid spelling.
    #[error(
        "`{role}` is not a role: write lower-case letters, digits and hyphens{}",
        suggested(nearest)
    )]
    Role {
        /// The role in the file.
        role: String,
        /// The same text as a valid role.
        nearest: Option<String>,
    },
    /// A required role is missing in all keys.
    #[error("require names the role `{role}`, which no key has{}", suggested(nearest))]
    RequiredUnknown {
        /// The role.
        role: String,
        /// The most similar role of a key.
        nearest: Option<String>,
    },
    /// A role is required with a count of zero.
    #[error("require.{role} is 0, which requires nothing: set it to at least 1, or remove it")]
    RequiredZero {
        /// The role.
        role: String,
    },
    /// The name of the project is empty, or has white space around it.
    #[error(
        "project is `{project}`: write the name of the project as in its project.kdl, or remove the key"
    )]
    Project {
        /// The project in the file.
        project: String,
    },
}

impl Trust {
    /// Checks the consistency of the file's parts, and whether each id and role refers to a key.
    /// Parsing has checked only the form of each.
    ///
    /// # Errors
    ///
    /// The first inconsistent part.
    pub fn check(&self) -> Result<(), TrustFileError> {
        let Self {
            version: _,
            project,
            threshold,
            require,
            min_epoch: _,
            keys: _,
            revoked: Revoked { keys: revoked, digests: _ },
            allow_digests: _,
        } = self;
        if *threshold == 0 {
            return Err(TrustFileError::ZeroThreshold);
        }
        if let Some(project) = project.as_ref().filter(|it| it.is_empty() || it.trim() != **it) {
            return Err(TrustFileError::Project { project: project.clone() });
        }
        let keys = self.keys_by_id()?;
        for key in keys.values() {
            key.check()?;
        }
        if let Some(id) = revoked.iter().find(|id| !keys.contains_key(*id)) {
            return Err(unknown_revocation(id, &keys));
        }
        let roles: BTreeSet<&str> =
            keys.values().flat_map(|key| &key.roles).map(String::as_str).collect();
        for (role, count) in require {
            if !roles.contains(role.as_str()) {
                let nearest = nearest(role, roles.iter().copied());
                return Err(TrustFileError::RequiredUnknown { role: role.clone(), nearest });
            }
            if *count == 0 {
                return Err(TrustFileError::RequiredZero { role: role.clone() });
            }
        }
        Ok(())
    }

    /// Returns the keys by the ids of their public keys.
    pub(super) fn keys_by_id(&self) -> Result<BTreeMap<String, &TrustedKey>, TrustFileError> {
        let mut keys: BTreeMap<_, &TrustedKey> = BTreeMap::new();
        for key in &self.keys {
            let name = || key.name.clone();
            let found = key_id(&key.public.0);
            if let Some(id) = key.id.as_ref().filter(|id| **id != found) {
                return Err(TrustFileError::KeyId { name: name(), id: id.clone(), found });
            }
            // Two entries could differ in roles and dates, so ignoring one of them silently would
            // be wrong.
            if let Some(other) = keys.insert(found, key) {
                return Err(TrustFileError::KeyTwice { name: name(), other: other.name.clone() });
            }
        }
        Ok(keys)
    }
}

impl TrustedKey {
    fn check(&self) -> Result<(), TrustFileError> {
        let Self { name, id: _, public: _, roles, not_before, not_after } = self;
        if let Some(role) = roles.iter().find(|role| !is_role(role)) {
            let nearest = Some(role.trim().to_lowercase().replace([' ', '_'], "-"));
            let nearest = nearest.filter(|nearest| is_role(nearest));
            return Err(TrustFileError::Role { role: role.clone(), nearest });
        }
        if not_before.zip(*not_after).is_some_and(|(from, until)| until <= from) {
            return Err(TrustFileError::NeverValid { name: name.clone() });
        }
        Ok(())
    }
}

fn is_role(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty() && text.chars().all(plain)
}

fn unknown_revocation(text: &str, keys: &BTreeMap<String, &TrustedKey>) -> TrustFileError {
    let mut named = keys.iter().filter(|(_, key)| key.name == text);
    match (named.next(), named.next()) {
        (Some((id, _)), None) => {
            TrustFileError::RevokedName { name: text.to_owned(), id: id.clone() }
        }
        _ => TrustFileError::RevokedUnknown {
            id: text.to_owned(),
            nearest: nearest(text, keys.keys().map(String::as_str)),
        },
    }
}

/// Returns the known text that is most similar to `text`, if one is similar.
fn nearest<'k>(text: &str, known: impl Iterator<Item = &'k str>) -> Option<String> {
    let text = text.trim().to_lowercase();
    known
        .map(|known| (osa_distance(&text, known), known))
        .min()
        .filter(|(distance, known)| *distance <= 1 + known.len() / 4)
        .map(|(_, known)| known.to_owned())
}

fn suggested(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
}

fn one() -> u32 {
    1
}

/// Reads a list whose entries are distinct.
fn each_once<'de, D, T>(deserializer: D) -> Result<BTreeSet<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Ord + Clone + fmt::Display,
{
    let mut set = BTreeSet::new();
    for entry in Vec::<T>::deserialize(deserializer)? {
        if !set.insert(entry.clone()) {
            return Err(serde::de::Error::custom(format!("`{entry}` is listed twice")));
        }
    }
    Ok(set)
}

impl PublicKey {
    /// Reads `ed25519:` and 32 bytes in base64; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text.trim().strip_prefix(PUBLIC_KEY_PREFIX)?).ok()?;
        VerifyingKey::from_bytes(&bytes.try_into().ok()?).ok().map(Self)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PUBLIC_KEY_PREFIX}{}", STANDARD.encode(self.0.as_bytes()))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(
                "a public key is `ed25519:` and 32 bytes in base64, as `relay keygen` prints it",
            )
        })
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            let fault = digest_fault(&text);
            serde::de::Error::custom(format!(
                "a digest is `sha256:` and 64 hexadecimal digits in lower case, and `{text}` {fault}"
            ))
        })
    }
}

/// Returns the fault of an invalid digest.
fn digest_fault(text: &str) -> String {
    let Some(hex) = text.strip_prefix("sha256:") else {
        return "does not begin with `sha256:`".to_owned();
    };
    if let Some(other) = hex.chars().find(|c| !c.is_ascii_hexdigit()) {
        return format!("has the character {other:?}");
    }
    match hex.len() {
        64 => "has capital letters".to_owned(),
        length => format!("has {length} digits"),
    }
}

/// The schemas of the texts of a trust file, for its reference.
#[cfg(feature = "schema")]
mod schema {
    use std::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

    use super::{Digest, PublicKey, Time};

    macro_rules! texts {
        ($($type:ty: $format:literal,)*) => {$(
            impl JsonSchema for $type {
                fn inline_schema() -> bool {
                    true
                }

                fn schema_name() -> Cow<'static, str> {
                    $format.into()
                }

                fn json_schema(_: &mut SchemaGenerator) -> Schema {
                    json_schema!({ "type": "string", "format": $format })
                }
            }
        )*};
    }

    texts! {
        Digest: "digest",
        PublicKey: "public key",
        Time: "date",
    }
}
