//! The files of a configuration: those of the disk, or any others.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::limits::{BYTES_MAX, FOLDER_ENTRIES_MAX};
use crate::text_file;

/// The mode bits with which others may write.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Access to files.
pub trait Files {
    /// Returns the bytes of a file; a missing file is `None`.
    ///
    /// # Errors
    ///
    /// The file exists and is unfit to be read.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;

    /// Returns the names in a folder; a missing folder is empty.
    ///
    /// # Errors
    ///
    /// The folder exists and is unreadable.
    fn names(&self, folder: &Path) -> io::Result<Vec<OsString>>;
}

/// The files of the disk. Each belongs to root or to the server's own user, and only its owner may write
/// it, as ssh(1) asks of its own files: the writer of one decides where connections go.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = text_file::open_existing(path)? else { return Ok(None) };
        let found = file.metadata()?;
        let own = rustix::process::geteuid().as_raw();
        if found.uid() != 0 && found.uid() != own {
            return Err(io::Error::other("it belongs to another user: `chown` it to the server's"));
        }
        if found.mode() & WRITABLE_BY_OTHERS != 0 {
            return Err(io::Error::other("others may write it: `chmod go-w` it"));
        }
        text_file::read_open(&file, BYTES_MAX).map(Some)
    }

    fn names(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut names = Vec::new();
        for entry in entries {
            if names.len() == FOLDER_ENTRIES_MAX {
                return Err(io::Error::other(format!("it has over {FOLDER_ENTRIES_MAX} entries")));
            }
            names.push(entry?.file_name());
        }
        Ok(names)
    }
}
