//! Opening the audit file: a regular file that its owner alone may read.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use relay_engine::system_error::reason;
use thiserror::Error;

use crate::file::regular_file;

/// The mode of the file: for its owner alone.
const PRIVATE_MODE: u32 = 0o600;

/// An error of opening the audit file.
#[derive(Debug, Error)]
#[error(
    "cannot append to the audit file `{}`: {}",
    path.display(),
    unwritten(source)
)]
pub struct AuditError {
    pub(super) path: PathBuf,
    pub(super) source: io::Error,
}

/// Opens the file at `path` for appending, created if missing.
pub(super) fn open(path: &Path) -> io::Result<File> {
    // Some devices act on being opened, so the path is checked before as well as after.
    match fs::metadata(path) {
        Ok(metadata) => regular_file::check(&metadata)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(PRIVATE_MODE)
        .custom_flags(regular_file::without_waiting())
        .open(path)?;
    let metadata = file.metadata()?;
    regular_file::check(&metadata)?;
    if metadata.mode() & 0o077 == 0 {
        return Ok(file);
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        let reason = "it belongs to another user, and others than its owner may read or write it: make it yours alone (`chmod 600`)";
        return Err(io::Error::other(reason));
    }
    file.set_permissions(Permissions::from_mode(PRIVATE_MODE))?;
    tracing::warn!(
        "the audit file `{}` could be read or written by others than its owner: its mode was {:o} and is now {PRIVATE_MODE:o}",
        path.display(),
        metadata.mode() & 0o777
    );
    Ok(file)
}

/// The identity of an open file, which no other file has while it is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// Returns the identity of an open file.
    pub(super) fn of(file: &File) -> io::Result<Self> {
        Ok(Self::of_metadata(&file.metadata()?))
    }

    fn of_metadata(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }

    /// Returns the length of the file of this identity if it is the one at `path` now.
    pub(super) fn length_at(self, path: &Path) -> io::Result<Option<u64>> {
        match fs::metadata(path) {
            Ok(now) => Ok((Self::of_metadata(&now) == self).then_some(now.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Returns the cause of a failure to make or write the file; a missing one is made.
#[must_use]
pub fn unwritten(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "its folder does not exist".to_owned(),
        _ => reason(error),
    }
}
