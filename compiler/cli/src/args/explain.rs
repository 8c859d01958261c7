//! What may be typed behind `relay explain`.

use clap::Args;

use crate::args::SubjectArgs;

/// Arguments of `relay explain`.
#[derive(Debug, Clone, Args)]
// Tags take whatever follows them, so what they are asked of stands before them.
#[command(override_usage = "\
relay explain <BUNDLE|PROJECT> <--prompt <NAME>|--uri <URI>|--tags [<TAG>...]|--call <TOOL>|--index> \
[OPTIONS]")]
#[command(after_long_help = "\
Examples:
  relay explain homelab.relay --prompt rollout --arguments '{\"service\":\"grafana\"}'
  relay explain homelab.relay --uri relay://homelab/rooms/kitchen
  relay explain homelab.relay --tags zigbee lights mqtt
  relay explain homelab.relay --call audit_tail --arguments '{\"tool\":\"mqtt\"}'
  relay explain project.kdl --index --json

The server asks the same code, so it answers the same. Exit code 1 if it would refuse.")]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
    #[command(flatten)]
    pub(crate) question: Question,
    /// Arguments for --prompt (texts) or --call: a JSON object
    #[arg(long, value_name = "JSON", requires = "with-arguments", help_heading = "Question")]
    pub(crate) arguments: Option<String>,
    /// A prompt that was sent before, for --tags or --call; may be given again
    #[arg(long, value_name = "NAME", requires = "with-selection", help_heading = "Question")]
    pub(crate) sent: Vec<String>,
    /// Bytes of bodies for --tags or --call, instead of the gate's budget
    #[arg(long, value_name = "BYTES", requires = "with-selection", help_heading = "Question")]
    pub(crate) budget: Option<usize>,
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
    #[arg(long, value_name = "NAME", group = "with-arguments")]
    pub(crate) prompt: Option<String>,
    /// What answers this URI: which resource, or which template with which variables
    #[arg(long, value_name = "URI")]
    pub(crate) uri: Option<String>,
    /// Which prompts these tags select, and what the budget cuts
    #[arg(long, value_name = "TAG", num_args = 0.., group = "with-selection")]
    pub(crate) tags: Option<Vec<String>>,
    /// Which prompts a call of this tool selects if nobody asked for a briefing before it
    #[arg(long, value_name = "TOOL", groups = ["with-arguments", "with-selection"])]
    pub(crate) call: Option<String>,
    /// Which prompts the instructions name, and how many they leave out
    #[arg(long)]
    pub(crate) index: bool,
}
