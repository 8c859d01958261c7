//! The arguments that several verbs share: a bundle or project, and how to compile it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The format of errors and warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// Human-readable text
    #[default]
    Human,
    /// One JSON object (schemas/check.json)
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Workflow commands of GitHub Actions, which annotate lines of a pull request
    Github,
}

/// Compiler options, shared by every verb that compiles.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Compiling")]
pub(crate) struct ProjectArgs {
    /// Apply the `when E { … }` blocks of this environment
    #[arg(long, value_name = "E")]
    pub(crate) env: Option<String>,
    /// Treat warnings as errors
    #[arg(long)]
    pub(crate) strict: bool,
    /// The format of errors and warnings
    #[arg(long, value_name = "F", value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// The bundle or project that a verb inspects.
#[derive(Debug, Clone, Args)]
pub(crate) struct SubjectArgs {
    /// A bundle, or a project's document to compile in memory
    #[arg(value_name = "BUNDLE|PROJECT")]
    pub(crate) subject: PathBuf,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}
