//! The arguments of `relay audit`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::format::{AnswerFormat, AuditFormat, FormatArgs};

/// Arguments of `relay audit`.
#[derive(Debug, Clone, Args)]
#[command(subcommand_value_name = "VERB")]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    pub(crate) verb: AuditVerb,
}

/// The verbs of an audit file.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum AuditVerb {
    /// Print the records that match
    Show(AuditShowArgs),
    /// Check that no record was changed, moved or removed
    Verify(AuditVerifyArgs),
}

/// Arguments of `relay audit show`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay audit show audit.jsonl --since 2h
  relay audit show audit.jsonl --prompt deploy --principal ann@house
  relay audit show audit.jsonl.1 audit.jsonl --denied --json
  relay audit show audit.jsonl --tier 2 --tier 3 --rule no-egress
  relay audit show audit.jsonl --follow                 goes on until it is stopped
  relay audit show audit.jsonl --follow --format cef    for a collector of security events

With --json each record is a line as it is in the file (schemas/audit-record.json, docs/audit.md). A
line that is no record, which a killed program may leave, is counted and left out.")]
pub(crate) struct AuditShowArgs {
    /// The audit files, the oldest first; with --follow the last one is followed
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Only requests for this prompt, and briefings that sent it
    #[arg(long, value_name = "NAME")]
    pub(crate) prompt: Option<String>,
    /// Only the requests of this caller
    #[arg(long, value_name = "NAME")]
    pub(crate) principal: Option<String>,
    /// Only the records of this client's hook, such as claude-code
    #[arg(long, value_name = "CLIENT")]
    pub(crate) client: Option<String>,
    /// Only requests with this label, such as server_info, prompt:deploy or authentication
    #[arg(long, value_name = "LABEL")]
    pub(crate) tool: Option<String>,
    /// Only the calls that this rule decided, or would have denied: its name or its FILE:LINE
    #[arg(long, value_name = "RULE")]
    pub(crate) rule: Option<String>,
    /// Only calls of this tier; several may be given
    #[arg(long, value_name = "TIER", value_parser = clap::value_parser!(u8).range(0..=3))]
    pub(crate) tier: Vec<u8>,
    /// Only from this time on: a date, a date and a time, or so long ago, such as 90m, 2h or 7d
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only before this time, in the same forms
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Only rejected and denied requests
    #[arg(long)]
    pub(crate) denied: bool,
    /// Also print records as they are written
    #[arg(long)]
    pub(crate) follow: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs<AuditFormat>,
}

/// Arguments of `relay audit verify`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay audit verify audit.jsonl
  relay audit verify audit.jsonl.2.gz audit.jsonl.1 audit.jsonl   a chain over rotated files
  relay audit verify audit.jsonl --checkpoints /var/lib/relay/audit-checkpoints-1f0c6a52d3b09e77.jsonl

Each record has a number, the hash of the record before it and its own hash. A record that was changed,
moved, added or removed breaks this chain, and the line is named. With --checkpoints, also records that
were cut off the end, and a chain that was computed anew. Files that end with .gz are unpacked.

Exit code: 0 if the chain is intact, 1 if it is broken, 2 if the files could not be read or have no
record.")]
pub(crate) struct AuditVerifyArgs {
    /// The audit files, the oldest first
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The checkpoints that the server keeps in its state folder, which the chain must reach
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoints: Option<PathBuf>,
    /// A public key whose checkpoints count, such as audit-checkpoint.pub in the state folder
    #[arg(long = "key", value_name = "FILE")]
    pub(crate) keys: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs<AnswerFormat>,
}
