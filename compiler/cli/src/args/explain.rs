//! What may be typed behind `relay explain`.

use clap::Args;

use crate::args::SubjectArgs;

/// Arguments of `relay explain`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay explain homelab.relay --prompt rollout --arguments '{\"service\":\"grafana\"}'
  relay explain homelab.relay --uri relay://homelab/rooms/kitchen
  relay explain project.kdl --index --json

The server asks the same code, so it answers the same. Exit code 1 if it would refuse.")]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
    #[command(flatten)]
    pub(crate) question: Question,
    /// Arguments for --prompt: a JSON object of texts
    #[arg(long, value_name = "JSON", requires = "prompt", help_heading = "Question")]
    pub(crate) arguments: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is asked.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
#[command(next_help_heading = "Question")]
pub(crate) struct Question {
    /// What would be sent for this prompt: the values in force, which variant, the messages
    #[arg(long, value_name = "NAME")]
    pub(crate) prompt: Option<String>,
    /// What answers this URI: which resource, or which template with which variables
    #[arg(long, value_name = "URI")]
    pub(crate) uri: Option<String>,
    /// Which prompts the instructions name, and how many they leave out
    #[arg(long)]
    pub(crate) index: bool,
}
