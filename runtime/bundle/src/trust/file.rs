//! `trust.toml`: the types that read it, and the checks of what it names.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::VerifyingKey;
use serde::{Deserialize, Deserializer};

use super::time::Time;
use crate::digest::Digest;

const PUBLIC_KEY_PREFIX: &str = "ed25519:";

/// The verifier's trust policy: the contents of `trust.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Trust {
    /// The version of the trust file itself. When it rises, the highest epoch seen is forgotten. So
    /// a huge epoch, signed with a stolen key, does not block later bundles for good.
    pub version: u64,
    /// How many different trusted keys must have signed.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    #[serde(default = "one")]
    pub threshold: u32,
    /// How many of the keys that signed must have a role, for each role that is named here.
    #[serde(default)]
    pub require: BTreeMap<String, u32>,
    /// Bundles with a lower epoch are refused.
    #[serde(default)]
    pub min_epoch: u64,
    /// The keys that may sign.
    #[serde(default)]
    pub keys: Vec<TrustedKey>,
    /// Keys and bundles that are no longer trusted.
    #[serde(default)]
    pub revoked: Revoked,
    /// Bundles that are accepted although a higher epoch was seen, to roll back to them.
    #[serde(default)]
    pub allow_digests: Vec<Digest>,
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
    /// The roles that its signatures count for.
    #[serde(default)]
    pub roles: BTreeSet<String>,
    /// Its signatures do not count before this time: a date, or a date and a time in UTC.
    #[serde(default)]
    pub not_before: Option<Time>,
    /// Its signatures do not count from this time on.
    #[serde(default)]
    pub not_after: Option<Time>,
}

/// Keys and bundles that are no longer trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Revoked {
    /// Ids of keys.
    #[serde(default)]
    pub keys: BTreeSet<String>,
    /// Digests of bundles.
    #[serde(default)]
    pub digests: BTreeSet<Digest>,
}

/// An Ed25519 public key, written `ed25519:` and base64.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey(pub VerifyingKey);

fn one() -> u32 {
    1
}

impl PublicKey {
    /// Reads `ed25519:` and 32 bytes in base64; `None` for anything else.
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
            serde::de::Error::custom("a digest is `sha256:` and 64 hexadecimal digits")
        })
    }
}

/// How the texts of a trust file appear in its reference.
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
