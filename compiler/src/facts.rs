//! The fact files, of which the table of the shipped facts is made.
//!
//! The fact files are in `compiler/facts`; their table is beside them, so that a build reads the
//! table alone. `relay fact-table` writes the table anew, and a test compares the two. The binary
//! `relay` alone embeds the table, and passes it on with the sources.

use std::collections::BTreeSet;

use miette::Diagnostic;
use relay_policy::facts::Knowledge;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::parse;
use crate::source::{Sources, Span};

pub use crate::shipped_facts::table;

/// Reads fact files, and returns their knowledge; broken parts are reported.
#[must_use]
pub fn read(sources: &Sources<'_>, files: &[String]) -> (Knowledge, Diagnostics) {
    let mut out = Diagnostics::new(false);
    let knowledge = parse::fact_files(sources, files, &mut out);
    (knowledge, out)
}

/// Programs with irreversible effects. If its facts were lost, each would count as unknown, which
/// is a lower tier.
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

/// Reports programs that a table of the shipped facts needs and these files lack.
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

/// The effects of these programs are irreversible. An unknown program has a lower tier, so a table
/// that lost one of them would lower the tier of its commands.
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
