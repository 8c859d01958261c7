//! The arguments of `relay trust`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::format::{AnswerFormat, FormatArgs};

/// Arguments of `relay trust`.
#[derive(Debug, Clone, Args)]
#[command(
    subcommand_value_name = "VERB",
    after_long_help = "\
Examples:
  relay trust list trust.toml                          keys, threshold, what is revoked
  relay trust add trust.toml --key next.pub            makes the file if there is none
  relay trust revoke trust.toml lost-laptop            a key by its name or id
  relay trust revoke trust.toml homelab.relay          a bundle by its file or digest
  relay trust threshold trust.toml 2                   two keys must have signed
  relay trust allow trust.toml old.relay               back to a bundle of a lower epoch
  relay trust remove trust.toml old.relay              takes that back; or removes a key

An edit keeps comments and layout, raises `version`, and is written only if servers would accept the
file. To deploy it, replace the file on the servers by a rename."
)]
pub(crate) struct TrustArgs {
    #[command(subcommand)]
    pub(crate) verb: TrustVerb,
}

/// The verbs of a trust file.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum TrustVerb {
    /// List what a trust file accepts and what it revokes
    List(TrustListArgs),
    /// Add a key that may sign
    Add(TrustAddArgs),
    /// Revoke a key or a bundle
    Revoke(TrustRevokeArgs),
    /// Set how many keys must have signed
    Threshold(TrustThresholdArgs),
    /// Allow a bundle whatever epoch a server served before: a rollback
    Allow(TrustAllowArgs),
    /// Remove a key, or take back what was allowed
    Remove(TrustRemoveArgs),
}

/// Arguments of `relay trust list`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay trust list trust.toml
  relay trust list trust.toml --json               for programs (schemas/trust-list.json)")]
pub(crate) struct TrustListArgs {
    /// The trust file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) format: FormatArgs<AnswerFormat>,
}

/// Arguments of `relay trust add`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay trust add trust.toml --key next.pub --min-epoch 118
  relay trust add trust.toml --key review.pub --role review --not-after 2027-01-01
  relay trust add trust.toml ed25519:vvXx+nOYCoWPOUrGtt5DcHogdP9f85ryfsK5m1HZyQo= --name ci")]
pub(crate) struct TrustAddArgs {
    /// The trust file; it is made if there is none
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The public key, `ed25519:…` as `relay keygen` prints it
    #[arg(value_name = "PUB", required_unless_present = "key", conflicts_with = "key")]
    pub(crate) public: Option<String>,
    /// The file of the public key, which `relay keygen` wrote
    #[arg(long, value_name = "FILE.pub")]
    pub(crate) key: Option<PathBuf>,
    /// The name of the key in reports; by default that in its file
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// A role that its signatures count for; may be repeated
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Vec<String>,
    /// The date, or date and time, from which its signatures no longer count
    #[arg(long, value_name = "DATE")]
    pub(crate) not_after: Option<String>,
    #[command(flatten)]
    pub(crate) edit: TrustEditArgs,
}

/// Arguments of `relay trust revoke`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay trust revoke trust.toml lost-laptop
  relay trust revoke trust.toml 21650aa284786f5a
  relay trust revoke trust.toml homelab.relay --min-epoch 118

A revoked key keeps its entry in [[keys]]. Signatures by it, and bundles with a revoked digest, no
longer count; a server that serves such a bundle ends service when it reads the file.")]
pub(crate) struct TrustRevokeArgs {
    /// The trust file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The id or name of a key in the file, or the digest or file of a bundle
    #[arg(value_name = "KEY|DIGEST|BUNDLE")]
    pub(crate) revoked: String,
    #[command(flatten)]
    pub(crate) edit: TrustEditArgs,
}

/// Arguments of `relay trust threshold`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay trust threshold trust.toml 2

Servers refuse the bundle that they serve if too few keys have signed it, so sign it first.")]
pub(crate) struct TrustThresholdArgs {
    /// The trust file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The number of keys that must have signed
    #[arg(value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) threshold: u32,
    #[command(flatten)]
    pub(crate) edit: TrustEditArgs,
}

/// Arguments of `relay trust allow`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay trust allow trust.toml old.relay
  relay trust allow trust.toml sha256:5f1d…

Servers refuse a bundle whose epoch is lower than one that they served. This names a bundle that they
take all the same; it must be signed as every other. `relay trust remove` takes it back, which ends
the exception after the next release.")]
pub(crate) struct TrustAllowArgs {
    /// The trust file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The file or digest of the bundle
    #[arg(value_name = "DIGEST|BUNDLE")]
    pub(crate) bundle: String,
    #[command(flatten)]
    pub(crate) edit: TrustEditArgs,
}

/// Arguments of `relay trust remove`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  relay trust remove trust.toml release-2025       a key by its name or id
  relay trust remove trust.toml old.relay          what `relay trust allow` allowed

Signatures by a key that is removed no longer count. A key that was lost is revoked instead, so that
it is not added again; a revoked key keeps its entry.")]
pub(crate) struct TrustRemoveArgs {
    /// The trust file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The id or name of a key in the file, or the digest or file of a bundle
    #[arg(value_name = "KEY|DIGEST|BUNDLE")]
    pub(crate) removed: String,
    #[command(flatten)]
    pub(crate) edit: TrustEditArgs,
}

/// Arguments of each edit.
#[derive(Debug, Clone, Args)]
pub(crate) struct TrustEditArgs {
    /// Set `min-epoch`, the lowest epoch that servers accept; use the epoch in force
    ///
    /// Servers forget the highest epoch that they served when `version` rises. With this option they
    /// refuse older bundles all the same.
    #[arg(long, value_name = "N")]
    pub(crate) min_epoch: Option<u64>,
}
