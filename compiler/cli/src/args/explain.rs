//! The arguments of `relay explain`.

use clap::{ArgGroup, Args};

use crate::args::caller::CallerArgs;
use crate::args::location::LocationArgs;
use crate::args::subject::SubjectArgs;

/// The questions: one of the first six, or any of the others together.
const ASKED: [&str; 9] =
    ["prompt", "uri", "tags", "call", "command", "index", "tenant", "tool", "user"];

/// The questions about other things than a command.
const OTHERS: [&str; 8] = ["prompt", "uri", "tags", "call", "index", "tenant", "tool", "user"];

/// Arguments of `relay explain`.
#[derive(Debug, Clone, Args)]
#[command(group = ArgGroup::new("asked").required(true).multiple(true).args(ASKED))]
// Folders are of a command alone.
#[command(mut_arg("cwd", |cwd| cwd.conflicts_with_all(OTHERS).help_heading("Question")))]
#[command(mut_arg("home", |home| home.conflicts_with_all(OTHERS).help_heading("Question")))]
// `--tags` takes all arguments after it, so the subject comes first.
#[command(override_usage = "\
relay explain <BUNDLE|PROJECT> <--prompt <NAME>|--uri <URI>|--tags [<TAG>...]|--call <TOOL>|--command <TEXT>|--index|\
[--tenant <NAME>] [--tool <NAME>] [--user <ID>]> [OPTIONS]")]
#[command(after_long_help = "\
Examples:
  relay explain homelab.relay --prompt rollout --arguments '{\"service\":\"grafana\"}'
  relay explain homelab.relay --uri relay://homelab/rooms/kitchen
  relay explain homelab.relay --tags zigbee lights mqtt
  relay explain homelab.relay --why --tags zigbee lights mqtt
  relay explain homelab.relay --call audit_tail --arguments '{\"tool\":\"mqtt\"}'
  relay explain homelab.relay --command 'rm -rf build' --cwd \"$PWD\"
  relay explain homelab.relay --tenant acme --tool api-create --user john@acme.example
  relay explain project.kdl --index --json

The server runs the same code, so its answer is the same. Exits with 1 if the server would reject
the request, refuse the caller or deny the call. A prompt or resource that the caller does not see is
rejected as on a server; then the answer says who sees it.")]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
    #[command(flatten)]
    pub(crate) question: Question,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
    /// Which skills a call of this tool is given; --tenant and --user alone ask for a call of any
    #[arg(long, value_name = "NAME", conflicts_with_all = ["Question"], help_heading = "Question")]
    pub(crate) tool: Option<String>,
    /// Arguments for --prompt (texts) or --call: a JSON object
    #[arg(long, value_name = "JSON", conflicts_with_all = ["uri", "tags", "command", "index", "tool"], help_heading = "Question")]
    pub(crate) arguments: Option<String>,
    /// For --tags: a prompt that was sent before; may be repeated
    ///
    /// With this option, prints the answer of `read_prompts`; without it, that of `begin_session`.
    /// Without a NAME, no prompt was sent before.
    #[arg(
        long,
        value_name = "NAME",
        num_args = 0..=1,
        conflicts_with_all = ["prompt", "uri", "call", "command", "index", "tool"],
        help_heading = "Question"
    )]
    pub(crate) sent: Option<Vec<String>>,
    /// For --call: assume a client without a session, which gets a briefing with each call
    #[arg(
        long,
        conflicts_with_all = ["prompt", "uri", "tags", "command", "index", "tool"],
        help_heading = "Question"
    )]
    pub(crate) no_session: bool,
    /// Bytes of bodies for --tags or --call, instead of the gate's budget
    #[arg(long, value_name = "BYTES", conflicts_with_all = ["prompt", "uri", "command", "index", "tool"], help_heading = "Question")]
    pub(crate) budget: Option<usize>,
    /// Print where each tag was found, the scores and the budget, instead of the text
    #[arg(long, conflicts_with_all = ["prompt", "uri", "command", "index", "format", "json", "tool"], help_heading = "Question")]
    pub(crate) why: bool,
    #[command(flatten)]
    pub(crate) location: LocationArgs,
}

/// The question to answer.
#[derive(Debug, Clone, Args)]
#[group(multiple = false)]
#[command(next_help_heading = "Question")]
pub(crate) struct Question {
    /// Print the messages for this prompt, with its effective arguments and its variant
    #[arg(long, value_name = "NAME")]
    pub(crate) prompt: Option<String>,
    /// Print the content for this URI: the resource, or the template and its variables
    #[arg(long, value_name = "URI")]
    pub(crate) uri: Option<String>,
    /// The briefing that an agent gets for these tags, with spaces or commas between them; with --why, how it was
    /// selected
    #[arg(long, value_name = "TAG", num_args = 0.., value_delimiter = ',')]
    pub(crate) tags: Option<Vec<String>>,
    /// Whether a call of this tool runs, and the briefing that precedes its result if the client has
    /// not had one
    #[arg(long, value_name = "TOOL")]
    pub(crate) call: Option<String>,
    /// The tier of this command by the project's policy, and the words that raise it
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["tenant", "role", "user", "group"])]
    pub(crate) command: Option<String>,
    /// Which prompts the instructions list, and how many they omit
    #[arg(long)]
    pub(crate) index: bool,
}
