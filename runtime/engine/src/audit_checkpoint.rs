//! Checkpoints of an audit file: the server's signature over the chain so far.
//!
//! A chain alone shows neither that its end was cut off nor that it was computed anew, since anyone
//! can do both. A checkpoint is a record of the chain that signs the number and the hash of the
//! record before it. It is also kept outside of the audit file, so its absence there shows.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use relay_bundle::Digest;

use crate::audit_chain::{self, Link};

/// The label of a record that is a checkpoint.
pub const LABEL: &str = "audit:checkpoint";
/// The label of a record that counts lost records.
pub const LOST: &str = "audit:lost";
/// The label of a record that counts records which may be missing after a failure of the machine.
pub const UNFLUSHED: &str = "audit:unflushed";
/// The name of the count in the arguments of such a record.
pub const COUNT: &str = "count";

/// The beginning of every signed text: it tells them from signatures of other kinds.
const CONTEXT: &str = "relay-audit-checkpoint v1";
/// The names of the arguments of a checkpoint's record.
const COVERS: &str = "covers";
const CHAIN: &str = "chain";
const KEY: &str = "key";
const SIGNATURE: &str = "signature";
/// The bytes of an Ed25519 signature.
pub const SIGNATURE_BYTES: usize = 64;

/// A checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The record that it covers, and with it all before.
    pub covers: Link,
    /// The id of the key that signed it.
    pub key: String,
    /// The signature of [`signed_text`].
    pub signature: [u8; SIGNATURE_BYTES],
}

/// Returns the text that the key with the id `key` signs for the chain up to `covers`.
#[must_use]
pub fn signed_text(covers: Link, key: &str) -> String {
    format!("{CONTEXT}\nkey {key}\nrecord {}\nchain {}\n", covers.seq, covers.hash.hex())
}

impl Checkpoint {
    /// Returns the arguments of the checkpoint's record.
    #[must_use]
    pub fn arguments(&self) -> BTreeMap<&'static str, String> {
        let Self { covers, key, signature } = self;
        BTreeMap::from([
            (COVERS, covers.seq.to_string()),
            (CHAIN, covers.hash.hex()),
            (KEY, key.clone()),
            (SIGNATURE, STANDARD.encode(signature)),
        ])
    }

    /// Reads the arguments of a checkpoint's record; `None` unless they have the form of
    /// [`Self::arguments`].
    #[must_use]
    pub fn read(arguments: &BTreeMap<String, String>) -> Option<Self> {
        let text = |name: &str| arguments.get(name).map(String::as_str);
        let seq = audit_chain::number(text(COVERS)?)?;
        let hash = Digest::from_hex(text(CHAIN)?)?;
        let signature = STANDARD.decode(text(SIGNATURE)?).ok()?.try_into().ok()?;
        let key = text(KEY)?.to_owned();
        (arguments.len() == 4).then_some(Self { covers: Link { seq, hash }, key, signature })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_is_read_as_it_was_written() {
        let covers = Link { seq: 7, hash: Digest([3; 32]) };
        let checkpoint = Checkpoint { covers, key: "0a".into(), signature: [9; 64] };
        let own = |(name, text): (&str, String)| (name.to_owned(), text);
        let mut arguments: BTreeMap<String, String> =
            checkpoint.arguments().into_iter().map(own).collect();
        assert_eq!(Checkpoint::read(&arguments), Some(checkpoint));
        for (name, bad) in [
            (COVERS, "-1"),
            (COVERS, "+7"),
            (COVERS, "07"),
            (CHAIN, "00"),
            (SIGNATURE, "00"),
            ("more", "x"),
        ] {
            let before = arguments.insert(name.to_owned(), bad.to_owned());
            assert_eq!(Checkpoint::read(&arguments), None, "{name}");
            arguments.remove(name);
            arguments.extend(before.map(|text| (name.to_owned(), text)));
        }
    }
}
