//! What may be typed after several verbs: what to look into, and how to compile it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// How findings are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// Drawn for people
    #[default]
    Human,
    /// One JSON object (schemas/check.json)
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Workflow commands of GitHub Actions, shown at the lines of a pull request
    Github,
}

/// What is asked of the compiler by every verb that compiles.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Compiling")]
pub(crate) struct ProjectArgs {
    /// Apply the `when E { … }` blocks of this environment
    #[arg(long, value_name = "E")]
    pub(crate) env: Option<String>,
    /// Treat as errors what is only doubtful
    #[arg(long)]
    pub(crate) strict: bool,
    /// How to report errors and warnings
    #[arg(long, value_name = "F", value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// What a verb looks into.
#[derive(Debug, Clone, Args)]
pub(crate) struct SubjectArgs {
    /// A bundle, or a project's document, which is then compiled in memory
    #[arg(value_name = "BUNDLE|PROJECT")]
    pub(crate) subject: PathBuf,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}
