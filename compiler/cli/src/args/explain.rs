//! The arguments of `relay explain`.

use clap::{ArgGroup, Args};

use crate::args::caller::CallerArgs;
use crate::args::location::LocationArgs;
use crate::args::subject::SubjectArgs;

/// The questions: one of the first seven, or any of the others together.
const ASKED: [&str; 10] =
    ["prompt", "uri", "tags", "call", "command", "matrix", "index", "tenant", "tool", "user"];

/// The questions that are not about a command.
const OTHERS_THAN_COMMANDS: [&str; 5] = ["prompt", "uri", "tags", "call", "index"];

/// Arguments of `relay explain`.
#[derive(Debug, Clone, Args)]
#[command(group = ArgGroup::new("asked").required(true).multiple(true).args(ASKED))]
// Folders are of a command alone.
#[command(mut_arg("cwd", |cwd| cwd.conflicts_with_all(OTHERS_THAN_COMMANDS).help_heading("Question")))]
#[command(mut_arg("home", |home| home.conflicts_with_all(OTHERS_THAN_COMMANDS).help_heading("Question")))]
// `--tags` takes all arguments after it, so the subject comes first.
#[command(override_usage = "\
relay explain <BUNDLE|PROJECT> <--prompt <NAME>|--uri <URI>|--tags [<TAG>...]|--call <TOOL>|--command <TEXT>|--matrix [EFFECT [VALUE]]|--index|\
[--tenant <NAME>] [--tool <NAME>] [--user <ID>]> [OPTIONS]")]
#[command(after_long_help = "\
Examples:
  relay explain homelab.relay --prompt rollout --arguments '{\"service\":\"grafana\"}'
  relay explain homelab.relay --uri relay://homelab/rooms/kitchen
  relay explain homelab.relay --tags zigbee lights mqtt
  relay explain homelab.relay --why --tags zigbee lights mqtt
  relay explain homelab.relay --call audit_tail --arguments '{\"tool\":\"mqtt\"}'
  relay explain homelab.relay --command 'rm -rf build' --cwd \"$PWD\"
  relay explain homelab.relay --matrix writes '/etc/**'
  relay explain homelab.relay --matrix --role reader
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
    ///
    /// With --command: the tool that runs the text, `shell_exec` unless given
    #[arg(long, value_name = "NAME", conflicts_with_all = ["prompt", "uri", "tags", "call", "index"], help_heading = "Question")]
    pub(crate) tool: Option<String>,
    /// With --command: the host on which it runs
    #[arg(long, value_name = "HOST", conflicts_with_all = OTHERS_THAN_COMMANDS, help_heading = "Question")]
    pub(crate) host: Option<String>,
    /// With --command: the client of the agent
    #[arg(long, value_name = "NAME", conflicts_with_all = OTHERS_THAN_COMMANDS, help_heading = "Question")]
    pub(crate) client: Option<String>,
    /// Arguments for --prompt (texts) or --call: a JSON object
    #[arg(long, value_name = "JSON", conflicts_with_all = ["uri", "tags", "command", "matrix", "index", "tool"], help_heading = "Question")]
    pub(crate) arguments: Option<String>,
    /// For --tags: a prompt that was sent before; may be repeated
    ///
    /// With this option, prints the answer of `read_prompts`; without it, that of `begin_session`.
    /// Without a NAME, no prompt was sent before.
    #[arg(
        long,
        value_name = "NAME",
        num_args = 0..=1,
        conflicts_with_all = ["prompt", "uri", "call", "command", "matrix", "index", "tool"],
        help_heading = "Question"
    )]
    pub(crate) sent: Option<Vec<String>>,
    /// For --call: assume a client without a session, which gets a briefing with each call
    #[arg(
        long,
        conflicts_with_all = ["prompt", "uri", "tags", "command", "matrix", "index", "tool"],
        help_heading = "Question"
    )]
    pub(crate) no_session: bool,
    /// Bytes of bodies for --tags or --call, instead of the gate's budget
    #[arg(long, value_name = "BYTES", conflicts_with_all = ["prompt", "uri", "command", "matrix", "index", "tool"], help_heading = "Question")]
    pub(crate) budget: Option<usize>,
    /// Print where each tag was found, the scores and the budget, instead of the text
    #[arg(long, conflicts_with_all = ["prompt", "uri", "command", "matrix", "index", "format", "json", "tool"], help_heading = "Question")]
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
    /// Whether this command runs, its tier, and the words and the rule that decide
    #[arg(long, value_name = "TEXT")]
    pub(crate) command: Option<String>,
    /// Who may do what: commands with this effect (`writes`, `removes`, `connects`, …) on this value, or with each
    /// effect, decided for every role
    #[arg(long, value_names = ["EFFECT", "VALUE"], num_args = 0..=2)]
    pub(crate) matrix: Option<Vec<String>>,
    /// Which prompts the instructions list, and how many they omit
    #[arg(long)]
    pub(crate) index: bool,
}
