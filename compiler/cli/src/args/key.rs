//! The arguments of the verbs that use private keys.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `relay keygen`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay keygen -o ci             writes ci.key (keep it secret) and ci.pub, prints a trust.toml
  relay keygen --api-key alice   writes alice.api-key, prints what server.toml needs to know
  relay keygen --api-key alice-2 --not-after 2027-01-01

Never replaces a file. Only you may read the secret ones. A signing key is Ed25519 in PKCS#8 PEM; an
API key is sent as `Authorization: Bearer KEY`, and a server knows only its SHA-256.")]
pub(crate) struct KeygenArgs {
    /// Name of the two files, without extensions
    #[arg(short, long, value_name = "NAME", default_value = "relay")]
    pub(crate) output: PathBuf,
    /// Make an API key of this id for clients of a server, instead of a signing key
    #[arg(long, value_name = "ID", conflicts_with = "output")]
    pub(crate) api_key: Option<String>,
    /// The date, or date and time, from which servers no longer accept the API key
    #[arg(long, value_name = "DATE", requires = "api_key", conflicts_with = "output")]
    pub(crate) not_after: Option<String>,
}

/// Arguments of `relay sign`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay sign homelab.relay --key release.key                       into the bundle
  relay sign homelab.relay --key release.key --detached rel.json   to a file beside it

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
