//! Reading a file that an operator names: a regular file, at once, within a limit.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Reads all of the file at `path`, at most `bytes_max` bytes; a missing file is `None`.
///
/// # Errors
///
/// It is unreadable, another kind of file, or larger.
pub(crate) fn read(path: &Path, bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
    open_existing(path)?.map(|file| read_open(&file, bytes_max)).transpose()
}

/// Opens the regular file at `path` for reading; a missing file is `None`.
///
/// # Errors
///
/// It is unreadable, or another kind of file.
pub(crate) fn open_existing(path: &Path) -> io::Result<Option<File>> {
    match open(path, OpenOptions::new().read(true)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        file => file.map(Some),
    }
}

/// Reads the rest of an open file, at most `bytes_max` bytes.
///
/// # Errors
///
/// It is unreadable or larger.
pub(crate) fn read_open(file: &File, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > bytes_max {
        return Err(io::Error::other(format!("it has over {bytes_max} bytes")));
    }
    Ok(bytes)
}

/// Opens the regular file at `path`, through links. Opening a pipe or a device could wait for ever.
///
/// # Errors
///
/// It is missing, unreadable, or another kind of file.
pub(crate) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // Some devices act on being opened, so the path is checked before as well as after.
    match fs::metadata(path) {
        Ok(found) => check(&found)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = options.custom_flags(flags).open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

fn check(found: &Metadata) -> io::Result<()> {
    if found.is_file() {
        return Ok(());
    }
    Err(io::Error::other("it is a folder, a pipe or a device: name a regular file"))
}
