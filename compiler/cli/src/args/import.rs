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

The report says of each file whether agents get it exactly, what changes, and what is left out and why.
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
    #[command(flatten)]
    pub(crate) format: FormatArgs<AnswerFormat>,
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
}

/// Arguments of `relay export`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay export command homelab.relay -o .claude/commands     all prompts without templates
  relay export mdc project.kdl --name naming -o .cursor/rules
  relay export stoa project.kdl -o skills                    all skills
  relay export agent-skill project.kdl -o .claude/skills --json   (schemas/export.json)

Writes a file for each prompt, or skill (all files of an agent skill), and reports what of it the form has no place for. A prompt with
other arguments than the text that people type after its name has no such form and is left out. No file
is replaced. Exits with 1 if nothing was written.")]
pub(crate) struct ExportArgs {
    /// The form to write
    #[arg(value_name = "FORM", value_enum)]
    pub(crate) form: ExportForm,
    /// A bundle, or a project's document to compile in memory
    #[arg(value_name = "BUNDLE|PROJECT")]
    pub(crate) subject: PathBuf,
    /// The folder to write to
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    /// Only the prompt, or the skills, of this name; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Vec<String>,
    #[command(flatten)]
    pub(crate) format: FormatArgs<AnswerFormat>,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}
