//! Reading known_hosts files, and appending a line to one.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::text_file;

/// The most bytes of a known_hosts file: some 60,000 lines.
pub const FILE_BYTES_MAX: usize = 8 << 20;

/// The longest wait for another program that holds the file, and the time between two attempts.
const LOCK_WAIT_MS_MAX: u64 = 2_000;
const LOCK_RETRY_MS: u64 = 20;

/// A fault of a known_hosts file that exists.
#[derive(Debug, thiserror::Error)]
#[error(
    "known_hosts file `{}` cannot be {verb}: {source}: correct the file or name another one",
    path.display()
)]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// The failed step: `read` or `written`.
    pub verb: &'static str,
    /// The cause.
    pub source: io::Error,
}

/// Reads the file at `path`; a missing file and `/dev/null` are empty.
///
/// # Errors
///
/// It is unreadable, another kind of file, or over [`FILE_BYTES_MAX`]. OpenSSH skips such a file; a
/// `@revoked` line in it would then be skipped too.
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    if path == Path::new("/dev/null") {
        return Ok(Vec::new());
    }
    let error = |source| FileError { path: path.to_owned(), verb: "read", source };
    Ok(text_file::read(path, FILE_BYTES_MAX).map_err(error)?.unwrap_or_default())
}

/// Appends `line`, which ends in a newline, to the file at `path`.
///
/// The file is locked, and the line is one write; a last line without an end gets its own first. A
/// file that has the line stays as it is. A new file has mode 0600, and a new folder for it 0700.
///
/// # Errors
///
/// Reading or writing failed, the file would be over [`FILE_BYTES_MAX`], or another program holds its
/// lock for 2 seconds.
pub fn append(path: &Path, line: &str) -> Result<(), FileError> {
    let error = |source| FileError { path: path.to_owned(), verb: "written", source };
    append_line(path, line.as_bytes()).map_err(error)
}

fn append_line(path: &Path, line: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty())
        && !folder.exists()
    {
        DirBuilder::new().mode(0o700).create(folder)?;
    }
    let mut options = OpenOptions::new();
    let file = text_file::open(path, options.read(true).append(true).create(true).mode(0o600))?;
    lock(&file)?;
    let before = text_file::read_open(&file, FILE_BYTES_MAX)?;
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    if before.split(|byte| *byte == b'\n').any(|known| known == text) {
        return Ok(());
    }
    let end: &[u8] = if before.last().is_none_or(|byte| *byte == b'\n') { b"" } else { b"\n" };
    let added = [end, text, b"\n"].concat();
    if before.len() + added.len() > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("it would have over {FILE_BYTES_MAX} bytes")));
    }
    let written = (&file).write(&added)?;
    if written < added.len() {
        // Half a line would be a damaged key for every reader.
        file.set_len(before.len() as u64)?;
        return Err(io::Error::from(io::ErrorKind::StorageFull));
    }
    Ok(())
}

/// Locks the file until it is closed.
fn lock(file: &File) -> io::Result<()> {
    for _ in 0..LOCK_WAIT_MS_MAX / LOCK_RETRY_MS {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => thread::sleep(Duration::from_millis(LOCK_RETRY_MS)),
            result => return Ok(result?),
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "another program holds its lock"))
}
