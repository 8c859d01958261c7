//! The arguments that several verbs share: a bundle or project, and how to compile it.

use std::path::PathBuf;

use clap::Args;

use crate::args::format::{FormatArgs, ReportFormat};

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
}

/// The bundle or project that a verb inspects, and the form of its answer.
#[derive(Debug, Clone, Args)]
pub(crate) struct SubjectArgs {
    /// A bundle, or a project's document to compile in memory
    #[arg(value_name = "BUNDLE|PROJECT")]
    pub(crate) subject: PathBuf,
    #[command(flatten)]
    pub(crate) format: FormatArgs<ReportFormat>,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}
