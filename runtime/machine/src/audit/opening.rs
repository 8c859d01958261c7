//! Opening the audit file: a regular file that its owner alone may read.

use std::fs::{self, File, OpenOptions, Permissions};
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

/// Returns the length of `file` if it is the one at `path` now.
pub(super) fn length_at(file: &File, path: &Path) -> io::Result<Option<u64>> {
    let now = match fs::metadata(path) {
        Ok(now) => now,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    let is_same = (now.dev(), now.ino()) == (metadata.dev(), metadata.ino());
    Ok(is_same.then_some(metadata.len()))
}

/// Returns the cause of a failure to make or write the file; a missing one is made.
#[must_use]
pub fn unwritten(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "its folder does not exist".to_owned(),
        _ => reason(error),
    }
}
