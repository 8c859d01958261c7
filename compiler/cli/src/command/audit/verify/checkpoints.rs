//! The checkpoints of a chain: their signatures, and whether the chain reaches those that a server
//! keeps outside of the file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ed25519_dalek::Signature;
use relay_bundle::Digest;
use relay_bundle::envelope::key_id;
use relay_bundle::trust::PublicKey;
use relay_engine::audit_chain::{self, Link};
use relay_engine::audit_checkpoint::{COUNT, Checkpoint, LABEL, LOST, UNFLUSHED, signed_text};
use serde::Deserialize;

use super::walk::BreakKind;
use crate::disk;
use crate::failure::Failure;
use crate::text::shown_path;

/// The most bytes of the file of a public key, and of the kept checkpoints.
const KEY_BYTES_MAX: u64 = 16 << 10;
const KEPT_BYTES_MAX: u64 = 1 << 20;
/// The public key that a server writes beside its kept checkpoints.
const OWN_KEY: &str = "audit-checkpoint.pub";

/// The keys whose checkpoints count, and the records that kept checkpoints name.
#[derive(Default)]
pub(super) struct Checks {
    keys: BTreeMap<String, PublicKey>,
    /// The hashes of records by their numbers.
    kept: BTreeMap<u64, Digest>,
    /// The number of kept checkpoints.
    pub(super) kept_count: u64,
}

/// A record about the audit itself.
pub(super) enum Own {
    /// A checkpoint, with the last record that it covers.
    Checkpoint(u64),
    /// The number of records that were lost before it.
    Lost(u64),
    /// The number of records before it whose flush failed.
    Unflushed(u64),
}

/// The parts of a record about the audit itself.
#[derive(Deserialize)]
struct Record {
    tool: String,
    #[serde(default)]
    args: serde_json::Value,
}

/// A fault of a checkpoint: its kind and its description.
pub(super) type Fault = (BreakKind, String);

impl Checks {
    /// Reads the keys, and the kept checkpoints of `file`; without a key the one beside that file.
    pub(super) fn read(keys: &[PathBuf], file: Option<&Path>) -> Result<Self, Failure> {
        let mut checks = Self::default();
        let beside = file.map(|file| file.with_file_name(OWN_KEY)).filter(|_| keys.is_empty());
        for path in keys.iter().chain(&beside) {
            let text = disk::read_text(path, KEY_BYTES_MAX).map_err(|failure| {
                failure.help("give the public key of the server's checkpoints: `--key FILE`")
            })?;
            let key =
                text.split_whitespace().next().and_then(PublicKey::parse).ok_or_else(|| {
                    let path = shown_path(path);
                    Failure::error(format!("`{path}` is no public key"))
                        .help("give the audit-checkpoint.pub of the server's state folder")
                })?;
            checks.keys.insert(key_id(&key.0), key);
        }
        let Some(file) = file else { return Ok(checks) };
        for (number, line) in disk::read_text(file, KEPT_BYTES_MAX)?.lines().enumerate() {
            checks.keep(line).map_err(|fault| {
                let (file, line) = (shown_path(file), number + 1);
                Failure::error(format!("{file}:{line}: {fault}"))
                    .help("the kept checkpoints were changed, or are of another server: `--key`")
            })?;
        }
        if checks.kept_count == 0 {
            let file = shown_path(file);
            return Err(Failure::error(format!("`{file}` has no checkpoint")));
        }
        Ok(checks)
    }

    /// Reads a kept checkpoint.
    fn keep(&mut self, line: &str) -> Result<(), String> {
        let record = audit_chain::read(line).map_err(|error| error.to_string())?;
        let Some(Own::Checkpoint(covers)) =
            self.own(line, record.link, record.prev).map_err(|(_, message)| message)?
        else {
            return Err("this line is no checkpoint".to_owned());
        };
        self.kept.insert(covers, record.prev);
        self.kept.insert(record.link.seq, record.link.hash);
        self.kept_count += 1;
        Ok(())
    }

    /// Returns whether signatures are checked.
    pub(super) fn has_keys(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Returns the newest record that kept checkpoints name.
    pub(super) fn newest(&self) -> Option<u64> {
        self.kept.keys().next_back().copied()
    }

    /// Compares a record with the kept checkpoints.
    pub(super) fn compare(&self, link: Link) -> Result<(), Fault> {
        match self.kept.get(&link.seq) {
            Some(hash) if *hash != link.hash => {
                let message = format!(
                    "record {} is another one than the server signed: the chain was computed anew",
                    link.seq
                );
                Err((BreakKind::Rewritten, message))
            }
            _ => Ok(()),
        }
    }

    /// Reads a record about the audit itself, which follows the record with the hash `prev`, and
    /// checks the signature of a checkpoint. `None` for other records.
    pub(super) fn own(&self, line: &str, link: Link, prev: Digest) -> Result<Option<Own>, Fault> {
        if !line.contains("\"tool\":\"audit:") {
            return Ok(None);
        }
        let Ok(Record { tool, args }) = serde_json::from_str::<Record>(line) else {
            return Ok(None);
        };
        // A server writes texts alone; other arguments count as missing.
        let args: BTreeMap<String, String> = serde_json::from_value(args).unwrap_or_default();
        let count = || args.get(COUNT).and_then(|count| count.parse().ok()).unwrap_or(0);
        match tool.as_str() {
            LOST => return Ok(Some(Own::Lost(count()))),
            UNFLUSHED => return Ok(Some(Own::Unflushed(count()))),
            LABEL => {}
            _ => return Ok(None),
        }
        let bad = |message: &str| (BreakKind::BadCheckpoint, message.to_owned());
        let Checkpoint { covers, key, signature } =
            Checkpoint::read(&args).ok_or_else(|| bad("this checkpoint is malformed"))?;
        if (covers.seq.checked_add(1), covers.hash) != (Some(link.seq), prev) {
            return Err(bad("this checkpoint covers another record than the one before it"));
        }
        if !self.has_keys() {
            return Ok(Some(Own::Checkpoint(covers.seq)));
        }
        let Some(PublicKey(public)) = self.keys.get(&key) else {
            let message = format!("this checkpoint is signed by the foreign key `{key}`");
            return Err((BreakKind::ForeignKey, message));
        };
        let text = signed_text(covers, &key);
        public
            .verify_strict(text.as_bytes(), &Signature::from_bytes(&signature))
            .map_err(|_| bad("the signature of this checkpoint is not by its key"))?;
        Ok(Some(Own::Checkpoint(covers.seq)))
    }
}
