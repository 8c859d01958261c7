//! Arguments of `relay classify` and `relay facts`.

use std::path::PathBuf;

use clap::Args;

use super::AnswerFormat;
use super::format::FormatArgs;

/// Arguments of `relay classify`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Every input line is answered, whatever it holds. With --json an input line is {\"command\":TEXT}, and \
an output line is one JSON object (schemas/classify.json). Exits with 1 if an input line is no such object.

A tier is advice and a gate. It judges the text, and is no sandbox: see docs/tiers.md.

Examples:
  relay classify 'git push -uf origin main'       one command
  relay classify < commands.txt                   a command a line
  relay classify --policy homelab.relay 'rm x'    as the policy of a bundle says
  jq -c '{command: .args.command}' audit.jsonl | relay classify --json")]
pub(crate) struct ClassifyArgs {
    /// Commands; without any, standard input has one a line
    #[arg(value_name = "COMMAND")]
    pub(crate) commands: Vec<String>,
    /// Judge by the policy of this bundle or project, instead of what is shipped
    #[arg(long, value_name = "BUNDLE|PROJECT")]
    pub(crate) policy: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs<AnswerFormat>,
}

/// Arguments of `relay facts`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay facts                the programs that are known
  relay facts git            what is known about git
  relay facts git push       what is known about one of its sub-commands")]
pub(crate) struct FactsArgs {
    /// A program, and perhaps its sub-commands
    #[arg(value_name = "PROGRAM")]
    pub(crate) program: Vec<String>,
    /// Print what this bundle or project knows, instead of what is shipped
    #[arg(long, value_name = "BUNDLE|PROJECT")]
    pub(crate) policy: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs<AnswerFormat>,
}

/// Arguments of `relay fact-table`.
#[derive(Debug, Clone, Args)]
pub(crate) struct FactTableArgs {
    /// The folder with the fact files
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}
