//! The arguments of the verbs that set things up: a project, git, a shell.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Arguments of `relay init`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay init my-team              a project in the folder my-team, which is made
  relay init --name platform      here, with a name of its own
  relay init rules --guard        a policy for the tools of agents' own clients, and no prompts

Writes a project with comments, two prompts, .gitattributes, .gitignore, and a workflow for GitHub
Actions with the scripts that it calls: those of examples/ci, which has more. The workflow is written
to the root of the repository, since GitHub reads it nowhere else. Never replaces a file.

With --guard the project has the shipped policy `workstation`, what it must decide, and a README.md
with the commands that build it and install it in a client (`relay hook install`).")]
pub(crate) struct InitArgs {
    /// The project's folder
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// The project's name; by default that of the folder
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Write a project that only guards: a policy for the tools of agents' own clients
    #[arg(long)]
    pub(crate) guard: bool,
}

/// Arguments of `relay git-setup`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay git-setup                   writes .gitattributes, prints what is left to do
  relay git-setup | sh              does that, too: two settings of this clone

Writes `*.relay diff=relay` to .gitattributes of the repository's root, unless it says so. The
settings that it prints are not part of a repository: everyone sets them in their own clone, or with
`git config --global` in all of them. Then `git diff`, `git log -p` and `git show` print bundles as
text: what `relay inspect --canonical` prints, where one change is one change. A damaged bundle is
shown with the reason.

Leave diff.relay.cachetextconv off: git would show texts that another version of relay has printed.

There is no difftool for projects: git gives it one file at a time, without those that the
file includes. `relay diff` compares whole projects: `relay diff main:project.kdl project.kdl`.")]
pub(crate) struct GitSetupArgs {}

/// Arguments of `relay completions`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay completions bash > ~/.local/share/bash-completion/completions/relay
  relay completions zsh > ~/.zfunc/_relay
  relay completions fish > ~/.config/fish/completions/relay.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// Arguments of `relay man`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay man --out ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The folder to write the pages to
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}
