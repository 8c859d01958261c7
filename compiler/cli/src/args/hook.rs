//! The arguments of `relay hook`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};

use crate::args::format::{AnswerFormat, FormatArgs};

/// Arguments of `relay hook`.
#[derive(Debug, Clone, Args)]
#[command(
    subcommand_value_name = "VERB",
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    override_usage = "relay hook CLIENT [--config FILE]\n       relay hook VERB …",
    after_long_help = "\
Examples:
  relay hook install claude-code --bundle team.relay --trust trust.toml
  relay hook install codex --dry-run               shows each change of a file, and makes none
  relay hook test claude-code                      plays events through the installed command line
  relay hook status                                every client: installed, trusted, last record
  relay hook install claude-code --remove          takes out relay's entries alone

`relay hook CLIENT` reads one event of the client on standard input and answers it: it runs
`relay-hook`, which clients run themselves once it is installed. Exit codes of that form: 0 no
objection or a question, 2 denied, or `relay-hook` is missing.

docs/hooks.md says what each client leaves open, and what the machine file can hold."
)]
pub(crate) struct HookArgs {
    #[command(subcommand)]
    pub(crate) verb: Option<HookVerb>,
    /// The client whose event is on standard input
    #[arg(value_name = "CLIENT", required = true, value_parser = clients())]
    pub(crate) client: Option<String>,
    /// The machine file, unless /etc/relay/hook.toml exists
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// The verbs of `relay hook`.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum HookVerb {
    /// Make a client ask relay before each of its tools
    Install(Box<HookInstallArgs>),
    /// Say for each client whether relay decides about its tools
    Status(HookStatusArgs),
    /// Count questions, grants and denials, and say which rule would stop them
    Stats(HookStatsArgs),
    /// Play a forbidden and a harmless event of each kind through an installation
    Test(HookTestArgs),
}

/// Arguments of `relay hook install`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay hook install claude-code --bundle team.relay --trust trust.toml
  relay hook install gemini                        the next client: the machine file is there
  sudo relay hook install codex --managed --bundle /var/lib/relay/team.relay --trust /etc/relay/trust.toml
  relay hook install cursor --dry-run              a unified diff of each file, and no change
  relay hook install cursor --remove               takes out relay's entries alone

Writes the machine file (~/.config/relay/hook.toml, with --managed /etc/relay/hook.toml) unless there
is one, and merges relay's entries into the client's own files. Comments, order and the entries of
others stay; the first change of a file keeps a copy, FILE.relay-backup. Running it again changes
nothing. What the client leaves open all the same is printed.

Only the managed form is an enforcement: the agent runs as its user, and can change any file of the
user that the policy lets it write.")]
pub(crate) struct HookInstallArgs {
    /// The client
    #[arg(value_name = "CLIENT", value_parser = clients())]
    pub(crate) client: String,
    /// The bundle with the policy; needed unless there is a machine file
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
    /// The trust file: whose signatures count
    #[arg(long, value_name = "FILE")]
    pub(crate) trust: Option<PathBuf>,
    /// The id of the caller; by default `os-user`, the name of the user that runs the client
    #[arg(long, value_name = "ID")]
    pub(crate) principal: Option<String>,
    /// The tenant of the caller
    #[arg(long, value_name = "TENANT")]
    pub(crate) tenant: Option<String>,
    /// A group of the caller; may be repeated
    #[arg(long, value_name = "GROUP")]
    pub(crate) group: Vec<String>,
    /// The role of the caller, among those that the bundle's users give
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Option<String>,
    /// Write the files of the system, which hold for all users and which only root can write
    #[arg(long)]
    pub(crate) managed: bool,
    /// Whose files to write: those of the user, or of the project in this folder
    #[arg(long, value_name = "SCOPE", value_enum, default_value_t, conflicts_with = "managed")]
    pub(crate) scope: ScopeName,
    /// The machine file, instead of ~/.config/relay/hook.toml
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print each change as a unified diff only
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Take relay's entries out, and the machine file if relay wrote it and no other client needs it
    #[arg(long, conflicts_with_all = ["bundle", "trust", "principal", "tenant", "group", "role"])]
    pub(crate) remove: bool,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// Whose files an installation writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ScopeName {
    /// Those of the user
    #[default]
    User,
    /// Those of the project in this folder
    Project,
}

/// Arguments of `relay hook status`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay hook status
  relay hook status --json                         for programs (schemas/hook-status.json)

For each client: whether relay is installed in the files of the user, the project or the system, and
as `relay hook install` would write it today; the client's version; whether a person has trusted the
hook (Codex); hooks of others that run beside it; and its last record. For the machine: whether the
machine file is valid, and the bundle trusted.

Exit codes: 0 every installed client is well, 1 one is not, or none is installed, 2 could not tell.")]
pub(crate) struct HookStatusArgs {
    /// The machine file, unless /etc/relay/hook.toml exists
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs<AnswerFormat>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// Arguments of `relay hook stats`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay hook stats --since 7d                      of the audit file of the machine file
  relay hook stats hook.jsonl.1 hook.jsonl --json  for programs (schemas/hook-stats.json)

Counts the calls that agents made in their clients: without an objection, granted, asked about,
approved by `relay approve`, denied. Below come the rules that asked and denied most, each with the
shortest change of the project that would stop it. Records hold no text of a call: `relay explain
--command` says what decides one.")]
pub(crate) struct HookStatsArgs {
    /// The audit files, the oldest first; by default that of the machine file
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Only from this time on: a date, a date and a time, or so long ago, such as 90m, 2h or 7d
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// The machine file, unless /etc/relay/hook.toml exists
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs<AnswerFormat>,
}

/// Arguments of `relay hook test`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay hook test claude-code

Starts the command line in the client's file as the client starts it, with events in the form of the
client: one that must be denied or asked about and a harmless one, for each kind of tools. Nothing is
run: `relay-hook` only decides. Each answer is checked as the client understands it, and against its
record in the audit file.

Exit codes: 0 every check passed, 1 one did not, 2 could not tell.")]
pub(crate) struct HookTestArgs {
    /// The client
    #[arg(value_name = "CLIENT", value_parser = clients())]
    pub(crate) client: String,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// Hidden arguments for tests.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct PlaceArgs {
    /// The folder that all paths of the home and of the system are below
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) root: Option<PathBuf>,
    /// Accept `relay-hook` in any folder
    #[arg(long, hide = true)]
    pub(crate) any_program: bool,
}

fn clients() -> PossibleValuesParser {
    PossibleValuesParser::new(relay_hook::CLIENTS.map(|client| client.name))
}
