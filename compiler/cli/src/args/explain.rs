//! What may be typed after `relay explain`.

use clap::Args;

use crate::args::subject::SubjectArgs;

/// Arguments of `relay explain`.
#[derive(Debug, Clone, Args)]
// Tags take all that follows them, so the subject comes before them.
#[command(override_usage = "\
relay explain <BUNDLE|PROJECT> <--prompt <NAME>|--uri <URI>|--tags [<TAG>...]|--call <TOOL>|--index> \
[OPTIONS]")]
#[command(after_long_help = "\
Examples:
  relay explain homelab.relay --prompt rollout --arguments '{\"service\":\"grafana\"}'
  relay explain homelab.relay --uri relay://homelab/rooms/kitchen
  relay explain homelab.relay --tags zigbee lights mqtt
  relay explain homelab.relay --why --tags zigbee lights mqtt
  relay explain homelab.relay --call audit_tail --arguments '{\"tool\":\"mqtt\"}'
  relay explain project.kdl --index --json

The server asks the same code, so it answers the same. Exit code 1 if it would refuse.")]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
    #[command(flatten)]
    pub(crate) question: Question,
    /// Arguments for --prompt (texts) or --call: a JSON object
    #[arg(long, value_name = "JSON", conflicts_with_all = ["uri", "tags", "index"], help_heading = "Question")]
    pub(crate) arguments: Option<String>,
    /// For --tags: a prompt that was sent before; may be given again
    ///
    /// With it, the answer is that of `read_prompts`, else that of `begin_session`. Without a name
    /// nothing was sent before.
    #[arg(
        long,
        value_name = "NAME",
        num_args = 0..=1,
        conflicts_with_all = ["prompt", "uri", "call", "index"],
        help_heading = "Question"
    )]
    pub(crate) sent: Option<Vec<String>>,
    /// For --call: the client has no session, so it may get a briefing with each call
    #[arg(
        long,
        conflicts_with_all = ["prompt", "uri", "tags", "index"],
        help_heading = "Question"
    )]
    pub(crate) no_session: bool,
    /// Bytes of bodies for --tags or --call, instead of the gate's budget
    #[arg(long, value_name = "BYTES", conflicts_with_all = ["prompt", "uri", "index"], help_heading = "Question")]
    pub(crate) budget: Option<usize>,
    /// Print which tag was found where, scores and what the budget cuts, instead of the text
    #[arg(long, conflicts_with_all = ["prompt", "uri", "index", "json"], help_heading = "Question")]
    pub(crate) why: bool,
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
    /// The text that an agent gets for these tags; with --why, how it was selected
    #[arg(long, value_name = "TAG", num_args = 0..)]
    pub(crate) tags: Option<Vec<String>>,
    /// The text that is put before the result of this tool if no one asked for a briefing before
    #[arg(long, value_name = "TOOL")]
    pub(crate) call: Option<String>,
    /// Which prompts the instructions name, and how many they leave out
    #[arg(long)]
    pub(crate) index: bool,
}
