//! The arguments of `relay diff`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::format::{DiffFormat, FormatArgs};

/// The most characters of markdown: GitHub refuses a comment with more than 65,536.
const MARKDOWN_CHARS: usize = 60_000;
/// The least room of markdown for its fixed parts: its heading, counts and last line.
const MARKDOWN_CHARS_MIN: u64 = 2_000;

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
  relay diff old/ new/                       folders of bundles, paired
  relay diff /dev/null project.kdl           all of it as new
  relay diff project.kdl --json              for programs (schemas/diff.json)
  relay diff project.kdl --format markdown   a comment for a pull request
  relay diff project.kdl --only authority    what agents may do alone
  relay diff --trust old.toml trust.toml     two trust files: whose signatures count
  relay diff main:server.toml server.toml    two server.toml: who is admitted
  relay diff v1.relay v2.relay --fail-on loosens,breaking --accepted accepted.toml

A and B are each one of:
  a project's document, or the folder that holds project.kdl
  a bundle, or a folder with files *.relay, paired by project and environment
  REV:PATH, a path in a revision of git, from the repository's root; ./PATH from this folder
  :PATH, the same in the index
  /dev/null, for nothing

A file or folder of that very name wins over a revision. What A's revision does not have is
compared as empty. Both sides are compiled without an environment and in each that either names.
Of two large bundles with the same digest no more is read: `relay verify` finds damage.
Nothing is fetched, and neither the work tree nor the index is changed.

Findings are of three areas: authority (what agents may do), contexts (what they read) and surface
(what clients see). --exit-code and --fail-on look at the findings that are shown. The markdown
begins with `<!-- relay-diff NAME -->`, or `<!-- relay-diff -->` for several projects, by which a
comment of an earlier run is found. SARIF and annotations are errors where authority loosens,
warnings where clients break, and notes otherwise.

Accepted findings are shown with their reason and trip no --fail-on; --exit-code counts them, as
they are differences. They are in a TOML file, each with the fingerprint that every form prints:
  [[accepted]]
  fingerprint = \"5c0f3a9b1e2d4f67\"
  reason = \"visitors need no briefing: OPS-12\"
A change cannot accept its own findings. If A is a commit, and the file is in its repository, the
entries that it has in that commit count. The report says which others the change adds.

Exits with 1 if --exit-code finds a difference or a finding trips --fail-on, and with 2 if a side
has errors or cannot be read.")]
pub(crate) struct DiffArgs {
    /// The sides: A and B, or B alone to compare the project at HEAD with the work tree
    #[arg(value_name = "A|B", num_args = 1..=2, required = true)]
    pub(crate) sides: Vec<PathBuf>,
    /// Compare in this environment only
    #[arg(long, value_name = "E")]
    pub(crate) env: Option<String>,
    #[command(flatten)]
    pub(crate) format: FormatArgs<DiffFormat>,
    /// Check the signatures of bundles against this trust file, and compare who signed; with another
    /// trust file in place of B, compare the two
    #[arg(long, value_name = "FILE")]
    pub(crate) trust: Option<PathBuf>,
    /// Show the findings of these areas only
    #[arg(long, value_name = "AREA", value_enum, value_delimiter = ',')]
    pub(crate) only: Vec<AreaName>,
    /// At most so many characters of markdown, the worst findings first: 2000 or more, 60000 if
    /// absent
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(MARKDOWN_CHARS_MIN..)
    )]
    pub(crate) max_chars: Option<u64>,
    /// Exit with 1 if there is a difference
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Exit with 1 if there is a finding of this kind that is not accepted
    #[arg(long, value_name = "KIND", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<Condition>,
    /// A TOML file of findings that are accepted, each with its reason
    #[arg(long, value_name = "FILE")]
    pub(crate) accepted: Option<PathBuf>,
}

impl DiffArgs {
    /// Returns the maximum of characters of markdown.
    pub(crate) fn markdown_chars(&self) -> usize {
        let asked = self.max_chars.map(|chars| usize::try_from(chars).unwrap_or(usize::MAX));
        asked.unwrap_or(MARKDOWN_CHARS)
    }
}

/// An area of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AreaName {
    /// The authority of agents
    Authority,
    /// The texts that agents read
    Contexts,
    /// The names, schemas and versions that clients see
    Surface,
}

/// A kind of finding that fails a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Condition {
    /// Agents may do more
    Loosens,
    /// Clients break: something they use is gone, renamed, or takes fewer values
    Breaking,
    /// A text that agents are always sent is another, or a rule is taken back
    Always,
    /// Agents read something else
    Contexts,
    /// Clients see something else
    Surface,
}
