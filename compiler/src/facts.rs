//! The facts that are shipped, and how their table is made.
//!
//! The fact files are in `compiler/facts`; their table is beside them, so that no build reads them. `relay
//! fact-table` writes the table anew, and a test compares the two. The binary `relay` alone embeds the table, and
//! hands it over with the sources.

use std::collections::BTreeSet;

use miette::Diagnostic;
use relay_bundle::Digest;
use relay_policy::facts::{EncodeError, Facts, Knowledge, encode};
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::parse;
use crate::source::{Sources, Span};

/// Returns the shipped facts.
///
/// # Errors
///
/// Their table is missing or damaged, which a test rules out. A project must not be judged without them.
pub(crate) fn shipped_knowledge(table: &[u8]) -> Result<Knowledge, EncodeError> {
    let damaged = |_| EncodeError { what: "the shipped ones are missing or damaged" };
    Facts::open(table).map(|facts| facts.knowledge()).map_err(damaged)
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

/// Reports programs that the table of the shipped facts must describe and these files do not.
pub fn check_complete(
    knowledge: &Knowledge,
    sources: &Sources<'_>,
    files: &[String],
    out: &mut Diagnostics,
) {
    let known: BTreeSet<&str> =
        knowledge.programs.iter().flat_map(|it| &it.names).map(String::as_str).collect();
    let missing = REQUIRED.iter().filter(|name| !known.contains(**name));
    let missing: Vec<_> = missing.map(|name| format!("`{name}`")).collect();
    let first = files.iter().find_map(|path| sources.load(path).ok());
    if let (false, Some(file)) = (missing.is_empty(), first) {
        let at = Span { file, start: 0, end: 0 };
        out.report(at, MissingProgram { programs: missing.join(", "), at });
    }
}

/// These programs do what cannot be taken back. Without facts each would count as unknown, which is less
/// than that, so a table that lost one of them would lower the tier of its commands.
#[derive(Debug, Error, Diagnostic)]
#[error("no fact describes {programs}")]
#[diagnostic(
    code(fact::missing_program),
    help("a table of the shipped facts needs them; describe each, in any of the files")
)]
struct MissingProgram {
    programs: String,
    #[label(primary, "the first of the fact files")]
    at: Span,
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
