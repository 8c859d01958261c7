//! An error of the state folder, or of one with copies of bundles.

use std::io;
use std::path::PathBuf;

use relay_bundle::OpenError;
use relay_engine::system_error::reason;
use thiserror::Error;

/// An error of the state folder.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the message of each variant says it, with its fields")]
pub enum StateError {
    #[error("cannot use the state folder `{}`: {}", path.display(), reason(source))]
    Folder { path: PathBuf, source: io::Error },
    #[error(
        "the state folder `{}` belongs to another user, or others may write to it: make it yours alone (`chmod 700`)",
        path.display()
    )]
    NotPrivate { path: PathBuf },
    #[error("cannot copy the bundle into the state folder: {}", reason(source))]
    Copy { source: io::Error },
    #[error(transparent)]
    Bundle(#[from] OpenError),
    #[error(
        "the trust file has version {given}, but version {seen} was in force before: put the newer trust file back, or remove `{}` to start afresh",
        path.display()
    )]
    TrustVersion { given: u64, seen: u64, path: PathBuf },
}
