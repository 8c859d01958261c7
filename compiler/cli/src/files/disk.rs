//! The folders and files of this machine.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, DirEntry, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use relay_compiler::ReadError;

use crate::failure::reason;
use crate::files::tree::{Entries, Entry, EntryKind, FileTree};

/// The disk, for one run: a folder that was followed once is not followed again.
#[derive(Default)]
pub(crate) struct Disk {
    /// The folders of files as they were named, which is quicker to compare than paths, with every link resolved.
    folders: RefCell<BTreeMap<OsString, PathBuf>>,
}

impl Disk {
    /// Returns the path of a file or folder, and its metadata if it is no link. The links of its
    /// folder are resolved, which takes a call of the system for each component, once a folder.
    fn last(&self, path: &Path) -> io::Result<(PathBuf, Option<fs::Metadata>)> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Ok((fs::canonicalize(path)?, None));
        };
        let known = self.folders.borrow().get(folder.as_os_str()).map(|found| found.join(name));
        let found = match known {
            Some(found) => found,
            None => {
                let found = fs::canonicalize(folder)?;
                let path = found.join(name);
                self.folders.borrow_mut().insert(folder.into(), found);
                path
            }
        };
        let metadata = fs::symlink_metadata(&found)?;
        match metadata.is_symlink() {
            true => Ok((fs::canonicalize(&found)?, None)),
            false => Ok((found, Some(metadata))),
        }
    }

    /// Returns the path without links to the target of `path`, and its metadata.
    pub(super) fn look(&self, path: &Path) -> Result<(PathBuf, fs::Metadata), ReadError> {
        let (found, metadata) = self.last(path).map_err(|error| read_error(&error))?;
        let metadata = match metadata {
            Some(metadata) => metadata,
            None => fs::metadata(&found).map_err(|error| read_error(&error))?,
        };
        Ok((found, metadata))
    }

    /// Returns the bytes, at most `bytes_max`, of the file at `found`, a path without links, with its metadata.
    ///
    /// These are read before it is opened: opening a pipe blocks until its other end is open.
    pub(super) fn read_file(
        found: &Path,
        metadata: &fs::Metadata,
        bytes_max: u64,
    ) -> Result<Vec<u8>, ReadError> {
        if !metadata.is_file() {
            return Err(ReadError::WrongKind { expected: "a file" });
        }
        check_size(metadata.len(), bytes_max)?;
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
        File::open(found)
            .and_then(|file| file.take(bytes_max + 1).read_to_end(&mut bytes))
            .map_err(|error| read_error(&error))?;
        check_size(bytes.len() as u64, bytes_max)?;
        Ok(bytes)
    }
}

impl FileTree for Disk {
    fn another() -> Option<Self> {
        Some(Self::default())
    }

    fn follow(&self, path: &Path) -> Result<PathBuf, ReadError> {
        self.last(path).map(|(found, _)| found).map_err(|error| read_error(&error))
    }

    fn is_folder(&self, found: &Path) -> bool {
        found.is_dir()
    }

    fn read(&self, found: &Path, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
        let metadata = fs::metadata(found).map_err(|error| read_error(&error))?;
        Self::read_file(found, &metadata, bytes_max)
    }

    fn entries(&self, found: &Path) -> Result<Entries<'_>, ReadError> {
        let entries = fs::read_dir(found).map_err(|error| failed(&error))?;
        let one = |entry: io::Result<DirEntry>| {
            let entry = entry?;
            let kind = entry.file_type()?;
            let kind = match kind {
                _ if kind.is_dir() => EntryKind::Folder,
                _ if kind.is_symlink() => EntryKind::Link,
                _ => EntryKind::File,
            };
            Ok(Entry { name: entry.file_name(), kind })
        };
        Ok(Box::new(entries.map(move |entry| one(entry).map_err(|error| failed(&error)))))
    }
}

fn check_size(bytes: u64, limit: u64) -> Result<(), ReadError> {
    if bytes > limit { Err(ReadError::TooLarge { bytes, limit }) } else { Ok(()) }
}

fn failed(error: &io::Error) -> ReadError {
    ReadError::Io { reason: reason(error) }
}

fn read_error(error: &io::Error) -> ReadError {
    match error.kind() {
        // A path through a file instead of a folder is also missing.
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ReadError::NotFound,
        _ => failed(error),
    }
}
