//! The arguments of the verbs that read and write files of other programs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::format::{AnswerFormat, FormatArgs};
use crate::args::subject::ProjectArgs;

/// Arguments of `relay import`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay import                     of this folder, into ./project.kdl
  relay import ../shop --dry-run   prints the project and writes nothing
  relay import prompts.json        of one file with a list of prompts, or with skills
  relay import --json              the report for programs (schemas/import.json)

Reads .claude/{commands,rules,skills}, .cursor/{commands,rules,skills}, .github/{prompts,instructions,
skills}, .agents/skills, .codex/skills, .opencode/command(s), .gemini/commands/*.toml, .cursorrules,
copilot-instructions.md, CLAUDE.md, AGENTS.md and GEMINI.md, also in the folders below, skills in YAML
(`kind: Skill`) in the folder, skills/, stoa/ and .stoa/, and lists of prompts in prompts.yaml,
prompts.yml and prompts.json. The project refers to these files where they are; texts of
TOML and YAML are written to imported/. No file is replaced.

  relay import --permissions claude-code --home ~ --system / -o policy.kdl
                                   the rules of a client as a policy, with an `expect` for each

With --permissions, the rules of one client become a policy and no prompt is imported. Of the project:
  claude-code  .claude/settings.json, .claude/settings.local.json; --home: .claude/settings.json;
               --system: etc/claude-code/managed-settings.json, managed-settings.d/*.json
  codex        .codex/rules/*.rules, also of --home; --system: etc/codex/requirements.toml
  cursor       .cursor/cli.json; --home: .cursor/cli-config.json
  gemini       .gemini/policies/*.toml, also of --home; --system: etc/gemini-cli/policies/*.toml
  vscode       .vscode/settings.json; --home: .config/Code/User/settings.json
  relay-shell  .env
The policy is never wider: what the client denies is denied, what it asks about is approved by a person,
and a rule that cannot be said so stops the import. The report (schemas/import-permissions.json) says of
each rule: exact, stricter, not expressible, or inert at the source. See docs/permissions.md.

The report of prompts says of each file whether agents get it exactly, what changes, and what is left out and why.
The project checks without a warning: what the compiler refuses is left out, and marks such as $1 that
stay text have an allow-mark with the reason. Exits with 1 if there is
nothing to import.")]
pub(crate) struct ImportArgs {
    /// The folder to import, or one file with skills or a list of prompts
    #[arg(value_name = "DIR|FILE", default_value = ".")]
    pub(crate) from: PathBuf,
    /// The project to write; by default project.kdl in the folder. Its folder holds all that is imported
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The project's name; by default that of its folder
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print the project and write nothing; the report goes to standard error
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Import the rules of this client as a policy, and no prompts
    #[arg(long, value_name = "CLIENT", value_enum)]
    pub(crate) permissions: Option<Client>,
    /// With --permissions: also the user's files, in this home folder
    #[arg(long, value_name = "DIR", requires = "permissions")]
    pub(crate) home: Option<PathBuf>,
    /// With --permissions: also the machine's files, below this root, such as /
    #[arg(long, value_name = "DIR", requires = "permissions")]
    pub(crate) system: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: FormatArgs<AnswerFormat>,
}

/// The clients whose rules are imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// `permissions` of settings.json, on every level
    ClaudeCode,
    /// *.rules, and the prefix rules of requirements.toml
    Codex,
    /// `permissions` of cli.json and cli-config.json
    Cursor,
    /// policies/*.toml
    Gemini,
    /// autoApprove of settings.json
    Vscode,
    /// RELAY_SHELL_POLICY_… of .env
    RelayShell,
}

impl Client {
    /// All of them.
    pub(crate) const ALL: [Self; 6] =
        [Self::ClaudeCode, Self::Codex, Self::Cursor, Self::Gemini, Self::Vscode, Self::RelayShell];

    /// Returns its name on command lines.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
            Self::Vscode => "vscode",
            Self::RelayShell => "relay-shell",
        }
    }

    /// Returns its name for people.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Cursor => "Cursor",
            Self::Gemini => "Gemini CLI",
            Self::Vscode => "VS Code",
            Self::RelayShell => "relay-shell",
        }
    }
}

/// The forms that an export writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportForm {
    /// A folder with a SKILL.md for each prompt, as in .claude/skills
    AgentSkill,
    /// A markdown command for each prompt, as in .claude/commands
    Command,
    /// A rule for each prompt, as in .cursor/rules
    Mdc,
    /// A YAML document for each skill
    Stoa,
    /// The policy as `permissions` of a settings.json
    ClaudeCode,
    /// The policy as a file of prefix rules
    Codex,
    /// The policy as `permissions` of a cli.json
    Cursor,
    /// The policy as a policy file
    Gemini,
    /// The policy as autoApprove settings
    Vscode,
}

impl ExportForm {
    /// Returns the client of a form for a policy.
    pub(crate) const fn client(self) -> Option<Client> {
        match self {
            Self::AgentSkill | Self::Command | Self::Mdc | Self::Stoa => None,
            Self::ClaudeCode => Some(Client::ClaudeCode),
            Self::Codex => Some(Client::Codex),
            Self::Cursor => Some(Client::Cursor),
            Self::Gemini => Some(Client::Gemini),
            Self::Vscode => Some(Client::Vscode),
        }
    }
}

/// Arguments of `relay export`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay export command homelab.relay -o .claude/commands     all prompts without templates
  relay export mdc project.kdl --name naming -o .cursor/rules
  relay export stoa project.kdl -o skills                    all skills
  relay export agent-skill project.kdl -o .claude/skills --json   (schemas/export.json)

  relay export claude-code project.kdl --role dev -o settings.json   the policy as rules of a client
  relay export codex team.relay --json                       (schemas/export-permissions.json)

claude-code, codex, cursor, gemini and vscode write the policy for a tenant and a role as static rules, to
standard output or a new file; no file of a client is changed. An allow is exported as one text, and only
if the policy allows it in each form in which the client would run it. The report says of each rule: exact,
stricter, partial, or not expressible, which the hook alone decides. --strict also exports rules that
restrict more than the policy does. See docs/permissions.md.

The others write a file for each prompt, or skill (all files of an agent skill), and reports what of it the form has no place for. A prompt with
other arguments than the text that people type after its name has no such form and is left out. No file
is replaced. Exits with 1 if nothing was written.")]
pub(crate) struct ExportArgs {
    /// The form to write
    #[arg(value_name = "FORM", value_enum)]
    pub(crate) form: ExportForm,
    /// A bundle, or a project's document to compile in memory
    #[arg(value_name = "BUNDLE|PROJECT")]
    pub(crate) subject: PathBuf,
    /// The folder to write to; of a policy, the file, by default standard output
    #[arg(short, long, value_name = "FOLDER|FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Only the prompt, or the skills, of this name; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Vec<String>,
    /// Of a policy: for callers of this tenant
    #[arg(long, value_name = "TENANT")]
    pub(crate) tenant: Option<String>,
    /// Of a policy: for callers of this role
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Option<String>,
    #[command(flatten)]
    pub(crate) format: FormatArgs<AnswerFormat>,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}
