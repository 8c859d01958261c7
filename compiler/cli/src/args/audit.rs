//! The arguments of `relay audit`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::format::{AnswerFormat, FormatArgs};

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
}

/// Arguments of `relay audit show`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay audit show audit.jsonl --since 2h
  relay audit show audit.jsonl --prompt deploy --principal ann@house
  relay audit show audit.jsonl.1 audit.jsonl --denied --json
  relay audit show audit.jsonl --follow                 goes on until it is stopped

With --json each record is a line as it is in the file (schemas/audit-record.json, docs/audit.md). A
line that is no record, which a full disk may leave, is counted and left out.")]
pub(crate) struct AuditShowArgs {
    /// The audit files, the oldest first; with --follow the last one is followed
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Only requests for this prompt, and briefings that sent it
    #[arg(long, value_name = "NAME")]
    pub(crate) prompt: Option<String>,
    /// Only what this caller requested
    #[arg(long, value_name = "NAME")]
    pub(crate) principal: Option<String>,
    /// Only from this time on: a date, a date and a time, or so long ago, such as 90m, 2h or 7d
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only what was rejected or denied
    #[arg(long)]
    pub(crate) denied: bool,
    /// Also print records as they are written
    #[arg(long)]
    pub(crate) follow: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs<AnswerFormat>,
}
