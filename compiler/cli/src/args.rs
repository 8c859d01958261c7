//! The grammar of the command line. Its meaning is in `command`, one file for each verb.

mod approve;
mod audit;
mod build;
mod bundle;
mod caller;
mod classify;
mod dev;
mod diff;
mod explain;
mod format;
mod hook;
mod import;
mod key;
mod location;
mod project;
mod setup;
mod subject;
mod trust;

use std::path::PathBuf;

use clap::builder::Styles;
use clap::builder::styling::AnsiColor;
use clap::{Args, CommandFactory, Parser, Subcommand};
use relay_bundle::{FORMAT_MAJOR, FORMAT_MINOR};

pub(crate) use approve::ApproveArgs;
pub(crate) use audit::{AuditArgs, AuditShowArgs, AuditVerb, AuditVerifyArgs};
pub(crate) use build::BuildArgs;
pub(crate) use bundle::{DescribeArgs, InspectArgs, ServeArgs, VerifyArgs};
pub(crate) use caller::CallerArgs;
pub(crate) use classify::{ClassifyArgs, FactTableArgs, FactsArgs, PolicyAutomataArgs};
pub(crate) use dev::DevArgs;
pub(crate) use diff::{AreaName, Condition, DiffArgs};
pub(crate) use explain::{ExplainArgs, Question};
pub(crate) use format::{AnswerFormat, AuditFormat, DiffFormat, ReportFormat, TestFormat};
pub(crate) use hook::{
    HookArgs, HookInstallArgs, HookStatsArgs, HookStatusArgs, HookTestArgs, HookVerb, ScopeName,
};
pub(crate) use import::{Client, ExportArgs, ExportForm, ImportArgs};
pub(crate) use key::{KeygenArgs, SignArgs};
pub(crate) use project::{CheckArgs, FmtArgs, RulesArgs, ShowArgs, TestArgs};
pub(crate) use setup::{CompletionsArgs, GitSetupArgs, InitArgs, ManArgs};
pub(crate) use subject::{ProjectArgs, SubjectArgs};
pub(crate) use trust::{
    TrustAddArgs, TrustAllowArgs, TrustArgs, TrustEditArgs, TrustListArgs, TrustRemoveArgs,
    TrustRevokeArgs, TrustThresholdArgs, TrustVerb,
};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default())
    .error(AnsiColor::Red.on_default().bold())
    .valid(AnsiColor::Cyan.on_default())
    .invalid(AnsiColor::Yellow.on_default());

/// Review what your agents may do, as a diff.
///
/// A project says which prompts, resources and policies your agents have. `relay build` checks all
/// of it and writes one signed bundle; `relay-serve` verifies the bundle and serves it over MCP.
#[derive(Debug, Parser)]
#[command(name = "relay", version = version(), styles = STYLES, after_help = AFTER_HELP)]
#[command(
    subcommand_value_name = "VERB",
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const AFTER_HELP: &str = "\
Exit codes: 0 yes, 1 no (errors in the project, not trusted, `fmt --check` or `diff --exit-code` \
differs, `diff --fail-on` trips), 2 failed (wrong usage, unusable file). Results go to standard output, everything else to standard error.

Begin with `relay init my-team`; `relay help VERB` has examples of each verb. Colours are off in pipes and where NO_COLOR is set.";

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Write a small project to begin with
    #[command(alias = "new")]
    Init(InitArgs),
    /// Write a project of the prompts and skills that a folder has for other programs
    Import(ImportArgs),
    /// Write prompts or skills as files of other programs
    Export(ExportArgs),
    /// Check a project and report errors and warnings
    #[command(aliases = ["lint", "validate"])]
    Check(CheckArgs),
    /// List what a project expects of its bundle, and whether it holds
    Test(TestArgs),
    /// Print what the codes of errors and warnings mean
    Rules(RulesArgs),
    /// Rewrite a project's files in the canonical layout
    Fmt(FmtArgs),
    /// Print the effective project: all defaults, and where each value came from
    Show(ShowArgs),
    /// Check a project and write its signed bundle
    Build(BuildArgs),
    /// Make a signing key
    Keygen(KeygenArgs),
    /// Add a signature to a bundle
    Sign(SignArgs),
    /// Check a bundle and its signatures against a trust file
    Verify(VerifyArgs),
    /// List and edit a trust file: keys, threshold, revocations, rollbacks
    Trust(TrustArgs),
    /// Show the contents of a bundle
    Inspect(InspectArgs),
    /// Show what an agent gets when it connects: instructions, tools, prompts
    Describe(DescribeArgs),
    /// Print what the server would answer, and why
    Explain(Box<ExplainArgs>),
    /// Compare two projects or bundles by what they mean
    Diff(DiffArgs),
    /// Say what shell commands may do, and which words say so
    Classify(ClassifyArgs),
    /// Print what is known about programs
    Facts(FactsArgs),
    /// Approve a call of an agent that waits under a code, once
    Approve(ApproveArgs),
    /// Print records of audit files, or check their chain
    Audit(AuditArgs),
    /// Build a project, serve it, and build it again on each change
    Dev(DevArgs),
    /// Serve a bundle over MCP; the same as `relay-serve`
    #[command(alias = "run")]
    Serve(ServeArgs),
    /// Ask relay before each tool of an agent's own client
    Hook(Box<HookArgs>),
    /// Make git show bundles as text
    GitSetup(GitSetupArgs),
    /// Print a script that completes command lines in a shell
    Completions(CompletionsArgs),
    /// Write the manual pages
    Man(ManArgs),
    /// Write the table of facts that the compiler embeds
    #[command(hide = true)]
    FactTable(FactTableArgs),
    /// Write the automata of the shipped policies that the compiler embeds
    #[command(hide = true)]
    PolicyAutomata(PolicyAutomataArgs),
    /// Write the JSON Schemas of every JSON output
    #[command(hide = true)]
    Schemas(GeneratedArgs),
    /// Write the reference documentation
    #[command(hide = true)]
    Reference(GeneratedArgs),
}

/// The verbs grouped by task, for the help.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Write a project", &["init", "import", "check", "test", "rules", "fmt", "show"]),
    ("Make a bundle", &["build", "keygen", "sign", "verify", "trust"]),
    ("Inspect a bundle or project", &["inspect", "describe", "explain", "diff", "export"]),
    ("Judge commands", &["classify", "facts"]),
    ("Run", &["dev", "serve", "hook", "approve", "audit"]),
    ("Set up", &["git-setup", "completions", "man", "help"]),
];

/// Arguments of the verbs that write files of this repository.
#[derive(Debug, Clone, Args)]
pub(crate) struct GeneratedArgs {
    /// The folder to write them to
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

/// Returns the line about the version, as the grammar has it.
pub(crate) fn version_line() -> String {
    format!("relay {}\n", version())
}

/// Returns the version, the commit from the environment of the build, and the format of bundles
/// that this version writes.
fn version() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let commit = option_env!("RELAY_COMMIT").unwrap_or("unknown");
    format!("{version} (commit {commit}, bundle format {FORMAT_MAJOR}.{FORMAT_MINOR})")
}

/// The line about the verb `help`.
const HELP_ABOUT: &str = "Print this message or the help of the given subcommand(s)";

/// Returns the command line's grammar, with the verbs grouped in the help.
pub(crate) fn command() -> clap::Command {
    let command = Cli::command();
    let template = template(&command);
    command.help_template(template)
}

/// Returns the command line's grammar for programs that read it.
pub(crate) fn plain_command() -> clap::Command {
    Cli::command()
}

fn template(command: &clap::Command) -> String {
    let (header, literal) = (STYLES.get_header(), STYLES.get_literal());
    let mut verbs = String::new();
    for (title, names) in GROUPS {
        verbs.push_str(&format!("{header}{title}:{header:#}\n"));
        for name in names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            // The library adds `help` to the grammar only where it is needed.
            let about = about.map_or_else(|| HELP_ABOUT.to_owned(), ToString::to_string);
            verbs.push_str(&format!("  {literal}{name:<13}{literal:#}{about}\n"));
        }
        verbs.push('\n');
    }
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{verbs}\
         {header}Options:{header:#}\n{{options}}{{after-help}}"
    )
}

#[cfg(test)]
mod tests {
    use super::{GROUPS, command};

    #[test]
    fn the_grammar_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_form_for_programs_is_chosen_alike() {
        let command = command();
        let mut with_forms = 0;
        let verbs = command.get_subcommands();
        for verb in verbs.flat_map(|verb| verb.get_subcommands().chain([verb])) {
            let find = |id: &str| verb.get_arguments().find(|argument| argument.get_id() == id);
            let forms = find("format").map(clap::Arg::get_possible_values).unwrap_or_default();
            let forms: Vec<_> = forms.iter().map(clap::builder::PossibleValue::get_name).collect();
            assert_eq!(find("json").is_some(), forms.contains(&"json"), "{}", verb.get_name());
            with_forms += usize::from(!forms.is_empty());
        }
        assert!(with_forms > 5, "{with_forms}");
    }

    #[test]
    fn every_visible_verb_is_in_one_group() {
        let grouped: Vec<_> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        for verb in command().get_subcommands().filter(|verb| !verb.is_hide_set()) {
            let times = grouped.iter().filter(|name| **name == verb.get_name()).count();
            assert_eq!(times, 1, "{}", verb.get_name());
        }
        let is_verb = |name: &&str| command().find_subcommand(name).is_some();
        let others: Vec<_> = grouped.into_iter().filter(|name| !is_verb(name)).collect();
        assert_eq!(others, ["help"]);
    }
}
