//! The arguments of `relay dev`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::args::subject::ProjectArgs;

/// Arguments of `relay dev`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay dev                                          in a terminal: http://127.0.0.1:8700/mcp
  relay dev my-team --http 127.0.0.1:9000 --env staging
  relay dev my-team --stdio                          as a client starts it
  relay dev my-team -- --tenant acme --role operator    options of `relay-serve` after `--`

A build with errors is printed and changes nothing: the last good bundle stays in force. Before the
first good build no server runs: over HTTP nothing listens yet, and on stdio requests wait. The
bundle is signed with your own dev key, so servers elsewhere refuse it.")]
pub(crate) struct DevArgs {
    /// The project's document, or the folder that holds `project.kdl`
    #[arg(value_name = "PROJECT", default_value = ".")]
    pub(crate) project: PathBuf,
    /// Serve one client on standard input and output (default, except in a terminal)
    #[arg(long, conflicts_with = "http", help_heading = "Serving")]
    pub(crate) stdio: bool,
    /// Serve on this address, at /mcp (default in a terminal: 127.0.0.1:8700)
    #[arg(long, value_name = "ADDR", help_heading = "Serving")]
    pub(crate) http: Option<String>,
    /// More options of `relay-serve`
    #[arg(value_name = "OPTIONS", last = true, help_heading = "Serving")]
    pub(crate) server: Vec<OsString>,
    #[command(flatten)]
    pub(crate) compiling: ProjectArgs,
}
