//! Arguments of `relay classify` and `relay facts`.

use std::path::PathBuf;

use clap::Args;

use super::AnswerFormat;
use super::format::FormatArgs;
use super::location::LocationArgs;

/// Arguments of `relay classify`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Every input line is answered, whatever it holds. With --json an input line is {\"command\":TEXT}, and \
an output line is one JSON object (schemas/classify.json). Exits with 1 if an input line is no such object, \
or if a command is above --max-tier.

A tier is advice and a gate. It judges the text, and is no sandbox: see docs/tiers.md.

Examples:
  relay classify git push -uf origin main         one command, word by word
  relay classify 'cat a.log | sh' --json          one command as a text, as a pipe needs it
  relay classify < commands.txt                   a command a line
  relay classify --policy homelab.relay 'rm x'    as the policy of a bundle says
  relay classify --cwd \"$PWD\" --home ~ \"$command\"  absolute paths of the work tree and home count as such
  relay classify --max-tier 1 \"$command\" && …      a gate for scripts
  jq -c '{command: .args.command}' audit.jsonl | relay classify --json")]
pub(crate) struct ClassifyArgs {
    /// A command, as one text or word by word; without any, standard input has one a line
    #[arg(value_name = "COMMAND", allow_hyphen_values = true)]
    pub(crate) words: Vec<String>,
    /// Judge by the policy of this bundle or project, instead of what is shipped
    #[arg(long, value_name = "BUNDLE|PROJECT")]
    pub(crate) policy: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) location: LocationArgs,
    /// Exit with 1 if a command is above this tier, 0 to 3
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=3))]
    pub(crate) max_tier: Option<u8>,
    #[command(flatten)]
    pub(crate) format: FormatArgs<AnswerFormat>,
}

impl ClassifyArgs {
    /// Returns the number of options after a whole command in one text, if there are any. After a
    /// command's first word, everything is a word of the command.
    pub(crate) fn options_behind(&self) -> Option<usize> {
        let [text, options @ ..] = self.words.as_slice() else { return None };
        let is_whole = text.contains(char::is_whitespace) && !text.starts_with('-');
        let is_option = options.first().is_some_and(|first| first.starts_with('-'));
        (is_whole && is_option).then_some(options.len())
    }
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

/// Arguments of `relay policy-automata`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PolicyAutomataArgs {
    /// The file to write
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}
