//! The arguments of the verbs that use private keys.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `relay keygen`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay keygen -o ci      writes ci.key (keep it secret) and ci.pub, prints a trust.toml for ci

Never replaces a file. The private key is Ed25519 in PKCS#8 PEM, readable only by you.")]
pub(crate) struct KeygenArgs {
    /// Name of the two files, without extensions
    #[arg(short, long, value_name = "NAME", default_value = "relay")]
    pub(crate) output: PathBuf,
}

/// Arguments of `relay sign`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay sign homelab.relay --key release.key                      into the bundle
  relay sign homelab.relay --key release.key --detached rel.json  to a file, the bundle stays the same

A signature does not change the digest, so an approved bundle stays approved.")]
pub(crate) struct SignArgs {
    /// The bundle
    #[arg(value_name = "BUNDLE")]
    pub(crate) bundle: PathBuf,
    /// The private key; may be repeated
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) key: Vec<PathBuf>,
    /// Write the signature envelope to this file instead of into the bundle
    #[arg(long, value_name = "OUT")]
    pub(crate) detached: Option<PathBuf>,
}
