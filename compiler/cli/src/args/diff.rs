//! The arguments of `relay diff`.

use std::path::PathBuf;

use clap::Args;

use crate::args::format::{AnswerFormat, FormatArgs};

/// Arguments of `relay diff`.
#[derive(Debug, Clone, Args)]
#[command(override_usage = "relay diff [A] <B> [OPTIONS]")]
#[command(after_long_help = "\
Examples:
  relay diff project.kdl                     the last commit with the work tree
  relay diff main:project.kdl project.kdl    a branch with the work tree
  relay diff HEAD~3:./team :./team           a commit with the index, from this folder
  relay diff v1.relay v2.relay --exit-code   two bundles; exits with 1 if they differ
  relay diff v1.relay project.kdl            a bundle with what its project says now
  relay diff old/ new/                       folders of bundles, paired by project
  relay diff /dev/null project.kdl           all of it as new
  relay diff project.kdl --json              for programs (schemas/diff.json)

A and B are each one of:
  a project's document, or the folder that holds project.kdl
  a bundle, or a folder with files *.relay
  REV:PATH, a path in a revision of git, from the repository's root; ./PATH from this folder
  :PATH, the same in the index
  /dev/null, for nothing

A file or folder of that very name wins over a revision. What A's revision does not have is
compared as empty. Both sides are compiled without an environment and in each that either names.
Nothing is fetched, and neither the work tree nor the index is changed. Exits with 2 if a side has
errors or cannot be read.")]
pub(crate) struct DiffArgs {
    /// What to compare: A with B, or with B alone what HEAD has of it with the work tree
    #[arg(value_name = "A|B", num_args = 1..=2, required = true)]
    pub(crate) sides: Vec<PathBuf>,
    /// Compare in this environment only
    #[arg(long, value_name = "E")]
    pub(crate) env: Option<String>,
    #[command(flatten)]
    pub(crate) format: FormatArgs<AnswerFormat>,
    /// Exit with 1 if there is a difference
    #[arg(long)]
    pub(crate) exit_code: bool,
}
