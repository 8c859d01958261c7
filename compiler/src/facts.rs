//! The facts that are shipped, and how their table is made.
//!
//! The fact files are in `compiler/facts`; their table is embedded, so that no build reads them. `relay
//! facts --compile` writes the table anew, and a test compares the two.

use std::collections::BTreeMap;

use relay_bundle::Digest;
use relay_policy::facts::{EncodeError, Facts, Knowledge, encode};

use crate::diagnostic::Diagnostics;
use crate::parse;
use crate::source::Sources;

/// The table of the shipped facts.
static TABLE: &[u8] = include_bytes!("../facts/table.bin");

/// Returns the table of the shipped facts.
#[must_use]
pub fn shipped() -> &'static [u8] {
    TABLE
}

/// Returns the shipped facts.
pub(crate) fn shipped_knowledge() -> Knowledge {
    // INVARIANT: a test opens the shipped table.
    Facts::open(TABLE).map(|facts| facts.knowledge()).unwrap_or_default()
}

/// Returns the digest of knowledge without its places, in hex.
///
/// # Errors
///
/// There is more than a table holds.
pub(crate) fn meaning(knowledge: Knowledge) -> Result<String, EncodeError> {
    let mut knowledge = knowledge.without_places();
    // A program that moved to another place says the same.
    knowledge.programs.sort_by(|a, b| a.names.cmp(&b.names));
    knowledge.environment.sort();
    encode(&knowledge).map(|bytes| Digest::of(&bytes).hex())
}

/// Reads fact files, and returns what they say; broken parts are reported.
#[must_use]
pub fn read(sources: &Sources<'_>, files: &[String]) -> (Knowledge, Diagnostics) {
    let mut out = Diagnostics::new(false);
    let knowledge = parse::fact_files(sources, files, &mut out);
    (knowledge, out)
}

/// Programs that do what cannot be taken back. Without its facts each would count as unknown, which is less.
const REQUIRED: &[&str] = &[
    "apt-get",
    "aws",
    "chmod",
    "chown",
    "curl",
    "dd",
    "docker",
    "dropdb",
    "fdisk",
    "find",
    "git",
    "helm",
    "iptables",
    "kill",
    "kubectl",
    "lvremove",
    "mkfs",
    "mysql",
    "parted",
    "psql",
    "reboot",
    "redis-cli",
    "rm",
    "rsync",
    "shred",
    "shutdown",
    "systemctl",
    "terraform",
    "truncate",
    "userdel",
    "wipefs",
    "xargs",
    "zfs",
];

/// Returns what keeps knowledge from becoming a table: a program that is described twice, of which only one
/// description would count, and one that must be described and is not.
#[must_use]
pub fn faults(knowledge: &Knowledge) -> Vec<String> {
    let mut first: BTreeMap<&str, String> = BTreeMap::new();
    let mut faults = Vec::new();
    for program in &knowledge.programs {
        let file = knowledge.files.get(usize::from(program.place.file));
        let at = format!("{}:{}", file.map_or("", String::as_str), program.place.line);
        for name in &program.names {
            if let Some(before) = first.insert(name, at.clone()) {
                faults.push(format!("`{name}` is described twice: {before} and {at}"));
            }
        }
    }
    let missing = REQUIRED.iter().filter(|name| !first.contains_key(**name));
    faults.extend(missing.map(|name| format!("no fact describes `{name}`, which does tier 3")));
    faults
}

/// Writes the table of knowledge, and opens it once to be sure that it can be.
///
/// # Errors
///
/// There is more than a table holds.
pub fn table(knowledge: &Knowledge) -> Result<Vec<u8>, EncodeError> {
    let bytes = encode(knowledge)?;
    if Facts::open(&bytes).is_err() {
        return Err(EncodeError { what: "facts" });
    }
    Ok(bytes)
}
