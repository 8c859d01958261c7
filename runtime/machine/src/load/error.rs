//! Reasons for refusing a bundle.

use std::io;
use std::path::PathBuf;

use relay_bundle::trust::TrustError;
use relay_bundle::{Corrupt, Digest, OpenError};
use relay_engine::authority::AuthorityError;
use relay_engine::derived::Mismatch;
use relay_engine::system_error;
use relay_engine::toml_fault::TomlFault;
use relay_engine::tool::UnknownTool;
use thiserror::Error;

use crate::state::StateError;

/// The most altered parts of a bundle that an error names.
const NAMED_MAX: usize = 12;

/// The reason for refusing a bundle.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the message of each variant says it, with its fields")]
pub enum LoadError {
    #[error(
        "`{}` is {what}, and a bundle is served: write one with `relay build {}`, then serve the file that ends with .relay",
        path.display(),
        path.display()
    )]
    NotBuilt { path: PathBuf, what: &'static str },
    #[error("cannot read the bundle `{}`: {}{}", path.display(), system_error::reason(source), remedy(source, "`relay build` writes one, and its path is the first argument"))]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot read the trust file `{}`: {}{}", path.display(), system_error::reason(source), remedy(source, &format!("`relay trust add {} --key FILE.pub` makes it", path.display())))]
    ReadTrust { path: PathBuf, source: io::Error },
    #[error(
        "`{}` is a {} key, and --trust takes a trust file: `relay trust add trust.toml --key {}` makes one, or adds the key to it",
        path.display(),
        if *is_private { "private" } else { "public" },
        path.with_extension("pub").display()
    )]
    KeyForTrust { path: PathBuf, is_private: bool },
    #[error("the trust file `{}` is not valid: {reason}", path.display())]
    ParseTrust { path: PathBuf, reason: String },
    #[error("the trust file `{}` is not valid: {}:{fault}", path.display(), path.display())]
    TrustSyntax { path: PathBuf, fault: TomlFault },
    #[error(
        "the trust file has version {given}, but version {seen} was in force before: put the newer trust file back, or restart the server"
    )]
    TrustVersion { given: u64, seen: u64 },
    #[error(transparent)]
    State(#[from] StateError),
    #[error("`{}` has {bytes} bytes, over the limit of {bytes_max}: split the project, or raise limits.bundle-bytes-max", path.display())]
    TooLarge { path: PathBuf, bytes: u64, bytes_max: u64 },
    #[error("refused `{}`: {reason}", path.display())]
    Open { path: PathBuf, reason: OpenError },
    #[error("refused `{}`: {reason}", path.display())]
    Corrupt { path: PathBuf, reason: Corrupt },
    #[error(
        "refused `{}`: {} not follow from its contents: {}; relay {} would write something else, so it was altered before it was signed, or another version of relay built it: build it again with this version, or, if you know why, name `{digest}` in the trust file's allow-digests",
        path.display(),
        if parts.len() == 1 { "a part of it does" } else { "parts of it do" },
        named(parts),
        env!("CARGO_PKG_VERSION")
    )]
    Altered { path: PathBuf, digest: Digest, parts: Vec<Mismatch> },
    #[error("refused `{}`: {reason}", path.display())]
    Policy { path: PathBuf, reason: AuthorityError },
    #[error("refused `{}`: {reason}", path.display())]
    Offer { path: PathBuf, reason: UnknownTool },
    #[error("refused `{}`: it offers `{tool}`, and this server was built without the feature `{feature}`: serve it with a release, which has it", path.display())]
    Feature { path: PathBuf, tool: &'static str, feature: &'static str },
    #[error("refused `{}`: {}", path.display(), reason.in_files(&path.display(), &trust.display()))]
    NotTrusted { path: PathBuf, reason: Box<TrustError>, trust: PathBuf },
    #[error(
        "refused `{}`: {}, and without --trust only this user's dev key counts: write `relay-serve {} --trust trust.toml` (`relay trust add trust.toml --key FILE.pub` makes that file)",
        path.display(),
        signed_by(reason),
        path.display()
    )]
    NotByDevKey { path: PathBuf, reason: Box<TrustError> },
    #[error(
        "refused `{}`: no trust file says whose signatures count; name one with --trust (`relay keygen` prints the lines for it)",
        path.display()
    )]
    NoTrust { path: PathBuf },
    #[error(
        "refused `{}`: without a trust file only this user's dev key counts, and `{}` does not hold one: create it with `relay build` without a key, or name a trust file with --trust",
        path.display(),
        key.display()
    )]
    NoDevKey { path: PathBuf, key: PathBuf },
}

impl LoadError {
    /// Returns whether the bundle was read and refused.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::NotBuilt { .. }
            | Self::Read { .. }
            | Self::ReadTrust { .. }
            | Self::KeyForTrust { .. }
            | Self::ParseTrust { .. }
            | Self::TrustSyntax { .. } => false,
            Self::State(StateError::Bundle(_) | StateError::TrustVersion { .. }) => true,
            Self::State(_) => false,
            Self::TrustVersion { .. } => true,
            Self::TooLarge { .. }
            | Self::Open { .. }
            | Self::Corrupt { .. }
            | Self::Altered { .. }
            | Self::Offer { .. }
            | Self::Feature { .. }
            | Self::Policy { .. }
            | Self::NotTrusted { .. }
            | Self::NotByDevKey { .. }
            | Self::NoTrust { .. }
            | Self::NoDevKey { .. } => true,
        }
    }
}

/// Returns parts of a bundle in words.
pub(super) fn named(parts: &[Mismatch]) -> String {
    let first: Vec<_> = parts.iter().take(NAMED_MAX).map(ToString::to_string).collect();
    match parts.len().saturating_sub(NAMED_MAX) {
        0 => first.join(", "),
        more => format!("{}, and {more} more", first.join(", ")),
    }
}

/// Returns the help for a missing file.
fn remedy(error: &io::Error, help: &str) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("; {help}"),
        _ => String::new(),
    }
}

/// Returns who signed a bundle that the dev key did not.
fn signed_by(reason: &TrustError) -> String {
    match reason {
        TrustError::BelowThreshold { signatures, .. } => {
            let ids: Vec<&str> = signatures.iter().map(|it| it.keyid.as_str()).collect();
            match ids.as_slice() {
                [] => "it is not signed".to_owned(),
                ids => format!("it is signed by {}", ids.join(" and ")),
            }
        }
        reason => reason.to_string(),
    }
}
