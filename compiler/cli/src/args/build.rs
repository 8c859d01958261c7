//! The arguments of `relay build`.

use std::path::PathBuf;

use clap::Args;

use crate::args::format::{FormatArgs, ReportFormat};
use crate::args::subject::ProjectArgs;

/// Arguments of `relay build`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay build project.kdl                                    signs with your own dev key
  relay build project.kdl --env production --key ci.key --epoch 118 -o homelab.relay
  relay build project.kdl --unsigned --json                  for a later `relay sign`

The same project and epoch give the same bytes on any machine and in any folder. Prints the sizes of
the texts that agents read; --json prints them and the sections (schemas/build.json).

A build leaves a receipt in `.relay-cache` beside the bundle. While nothing that the build read has
changed, the next one only checks the bundle, and says that it is unchanged.")]
pub(crate) struct BuildArgs {
    /// The project's document, or the folder that holds `project.kdl`
    #[arg(value_name = "PROJECT", default_value = ".")]
    pub(crate) project: PathBuf,
    /// Where to write the bundle; by default beside the document, named after the project
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print no table, only errors and warnings
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print a table of the bundle's sections as well
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Sign with the private key in this file; may be repeated
    ///
    /// Without this option, relay signs with your own dev key, which it makes on first use.
    /// Servers trust a dev key on stdio and loopback only. It is never used when CI is set.
    #[arg(long, value_name = "FILE", help_heading = "Signing")]
    pub(crate) key: Vec<PathBuf>,
    /// Do not sign; add signatures later with `relay sign`
    #[arg(long, conflicts_with = "key", help_heading = "Signing")]
    pub(crate) unsigned: bool,
    /// The epoch, instead of the project's own; servers refuse a bundle with a lower one
    #[arg(long, value_name = "N", help_heading = "Compiling")]
    pub(crate) epoch: Option<u64>,
    /// Record the git commit in the bundle, and whether files differ from it
    #[arg(long, help_heading = "Compiling")]
    pub(crate) provenance: bool,
    /// Compile even if nothing changed since the last build, and leave no receipt
    #[arg(long, help_heading = "Compiling")]
    pub(crate) no_cache: bool,
    #[command(flatten)]
    pub(crate) format: FormatArgs<ReportFormat>,
    #[command(flatten)]
    pub(crate) compiling: ProjectArgs,
}
