//! The arguments of `relay approve`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `relay approve`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay approve k7mq2xw9ab        shows the call that waits, and asks

Where a client cannot ask a person, the hook denies a call that needs one, and names a code. This verb
shows that call: its whole text, its folder, the client and the rule. If you type `yes`, the same call
may run once, until the time that it prints. It is bound to the text to the byte, the folder, the
caller and the bundle.

It needs a terminal, and refuses to run below an agent: the answer must be a person's. An agent that
can run any program as you can get around that, as it could around any file of yours; the hook's
policy must deny it `relay approve`, as the shipped policies do.")]
pub(crate) struct ApproveArgs {
    /// The code that the denial names
    #[arg(value_name = "CODE")]
    pub(crate) code: String,
    /// The machine file of the hook, unless /etc/relay/hook.toml exists
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}
