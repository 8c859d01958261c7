//! The arguments for the caller of a question.

use clap::Args;

/// For whom a question is asked.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Caller")]
pub(crate) struct CallerArgs {
    /// The tenant of the caller
    #[arg(long, value_name = "TENANT")]
    pub(crate) tenant: Option<String>,
    /// The role of the caller; with --user or --group, one that these give
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Option<String>,
    /// The id of the caller, as credentials give it
    #[arg(long, value_name = "ID")]
    pub(crate) user: Option<String>,
    /// A group of the caller; may be repeated
    #[arg(long, value_name = "GROUP")]
    pub(crate) group: Vec<String>,
}
