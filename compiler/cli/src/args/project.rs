//! The arguments of the verbs that work on a project's text.

use std::path::PathBuf;

use clap::Args;

use crate::args::format::{AnswerFormat, FormatArgs, ReportFormat, TestFormat};
use crate::args::subject::ProjectArgs;

/// Arguments of `relay check`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay check project.kdl                          every environment, for people
  relay check project.kdl --env production         only with the `when production` blocks
  relay check project.kdl --json                   for programs (schemas/check.json)
  relay check --format short                       each error and warning on one line
  relay check - < project.kdl                      the text of an editor; other files are those here
  relay check project.kdl --format github          annotations in a workflow
  relay check project.kdl --format sarif > x.sarif for code scanning

The report goes to standard output. Exits with 1 if there is an error. `relay rules CODE` says why
a rule exists and what to do.")]
pub(crate) struct CheckArgs {
    /// The project's document, the folder that holds `project.kdl`, or `-` for a text on standard input
    #[arg(value_name = "PROJECT", default_value = ".")]
    pub(crate) project: PathBuf,
    /// Print nothing if there is no error and no warning
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs<ReportFormat>,
    #[command(flatten)]
    pub(crate) compiling: ProjectArgs,
}

/// Arguments of `relay test`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay test project.kdl                           every environment, for people
  relay test project.kdl --env production          what `--env production` builds, and nothing else
  relay test project.kdl --json                    for programs (schemas/test.json)
  relay test project.kdl --format junit > x.xml    for the test reports of build servers
  relay test project.kdl --min-score 90            fails if tests miss more than a tenth of a policy

`relay check` and `relay build` prove every `expect`, `match` and `no-match` too; this verb lists the
expects, and what none of them touches: tenants, roles, skills, prompts, resources, rules. Of the
project's own rules it leaves out each selector, value, exception and the rule itself in turn, and
lists those that no `match`, `no-match` or `expect decision` misses. Exits with 1 if an expect does
not hold, if the project has another error, or if the score is below `--min-score`.")]
pub(crate) struct TestArgs {
    /// The project's document, or the folder that holds `project.kdl`
    #[arg(value_name = "PROJECT", default_value = ".")]
    pub(crate) project: PathBuf,
    /// Exit with 1 if less than N percent of the mutants of the policy are killed
    ///
    /// A mutant is a rule of the project without one selector, value or exception, or the policy
    /// without the rule. It is killed if a `match`, a `no-match` or an `expect decision` then fails.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) min_score: Option<u8>,
    #[command(flatten)]
    pub(crate) format: FormatArgs<TestFormat>,
    #[command(flatten)]
    pub(crate) compiling: ProjectArgs,
}

/// Arguments of `relay rules`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay rules                        every code, with its severity and message
  relay rules when::unknown_name     why the rule exists, what to do, and a report as an example
  relay rules --json                 all of it for programs (schemas/rules.json)")]
pub(crate) struct RulesArgs {
    /// The code of a report
    #[arg(value_name = "CODE")]
    pub(crate) code: Option<String>,
    #[command(flatten)]
    pub(crate) format: FormatArgs<AnswerFormat>,
}

/// Arguments of `relay fmt`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay fmt project.kdl            rewrites the document and its includes
  relay fmt project.kdl --check    changes nothing; prints a diff, exits with 1 if there is one
  relay fmt project.kdl --fix      first writes the corrections that are certain, of every file

--fix corrects what has one possible meaning: quotes, keywords, commas and comments of other
languages, a missing `;`, front matter that is not YAML. It prints each correction with its place.
A mistyped name is never corrected: its meaning is yours. docs/diagnostics.md marks the codes.")]
pub(crate) struct FmtArgs {
    /// The project's document, or the folder that holds `project.kdl`
    #[arg(value_name = "PROJECT", default_value = ".")]
    pub(crate) project: PathBuf,
    /// Print a diff and change nothing
    #[arg(long)]
    pub(crate) check: bool,
    /// Write the corrections of errors and warnings that are certain
    #[arg(long)]
    pub(crate) fix: bool,
}

/// Arguments of `relay show`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay show project.kdl                    KDL, with the origin of each value as a comment
  relay show project.kdl --env production   what production gets
  relay show project.kdl --json             the same for programs (schemas/show.json)")]
pub(crate) struct ShowArgs {
    /// The project's document, or the folder that holds `project.kdl`
    #[arg(value_name = "PROJECT", default_value = ".")]
    pub(crate) project: PathBuf,
    #[command(flatten)]
    pub(crate) format: FormatArgs<ReportFormat>,
    #[command(flatten)]
    pub(crate) compiling: ProjectArgs,
}
