//! The arguments of the verbs that work on a bundle.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::args::caller::CallerArgs;
use crate::args::format::{AnswerFormat, FormatArgs};
use crate::args::subject::SubjectArgs;

/// Arguments of `relay verify`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay verify homelab.relay --trust trust.toml
  relay verify homelab.relay --trust trust.toml --signature release.json --json

Checks signatures, epoch and every page of the bundle. If the bundle is not trusted, prints the
reason and exits with 1. `relay keygen` prints a trust.toml to start with.")]
pub(crate) struct VerifyArgs {
    /// The bundle
    #[arg(value_name = "BUNDLE")]
    pub(crate) bundle: PathBuf,
    /// The trust file: trusted keys, how many of them must have signed, revocations
    #[arg(long, value_name = "FILE")]
    pub(crate) trust: PathBuf,
    /// Count the signatures in this file too (`relay sign --detached`); may be repeated
    #[arg(long, value_name = "DETACHED")]
    pub(crate) signature: Vec<PathBuf>,
    /// Also make generated summaries and facts again, which a server does not
    #[arg(long)]
    pub(crate) deep: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs<AnswerFormat>,
}

/// Arguments of `relay inspect`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay inspect homelab.relay                      a summary
  relay inspect homelab.relay --json               everything (schemas/inspect.json)
  relay inspect homelab.relay --canonical          what it means, as text that is stable to diff

--canonical prints each change once. It leaves out what follows from something else: the index of
prompts, generated summaries and chapters, built-in messages, the descriptions of tools; and what
has no meaning: digests, signatures, provenance, places. --json has all of it.

`relay git-setup` makes git show bundles in this form.")]
pub(crate) struct InspectArgs {
    /// Print what the bundle means as text: one change is one change of it
    #[arg(long, conflicts_with_all = ["format", "json"])]
    pub(crate) canonical: bool,
    /// Of a bundle that cannot be read, print why, and exit with 0: git stops where a textconv fails
    #[arg(long, requires = "canonical")]
    pub(crate) keep_going: bool,
    /// Check the signatures against this trust file; without it they are listed unchecked
    #[arg(long, value_name = "FILE", conflicts_with = "canonical")]
    pub(crate) trust: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
}

/// Arguments of `relay describe`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay describe homelab.relay
  relay describe project.kdl --env production")]
pub(crate) struct DescribeArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
}

/// Arguments of `relay serve`, passed to `relay-serve` unchanged.
#[derive(Debug, Clone, Args)]
#[command(
    disable_help_flag = true,
    after_long_help = "\
Examples:
  relay serve homelab.relay --stdio
  relay serve homelab.relay --http 127.0.0.1:8080 --trust trust.toml
  relay serve --help                               all arguments"
)]
pub(crate) struct ServeArgs {
    /// The bundle, and the options of `relay-serve`
    #[arg(
        value_name = "ARGUMENTS",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        num_args = 0..
    )]
    pub(crate) arguments: Vec<OsString>,
}
