//! A project's folder on disk, as the compiler sees it.
//!
//! No path and no link can reach a file outside the folder.

use std::fs::{self, DirEntry, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use relay_compiler::{Files, Listed, ReadError};

use crate::failure::reason;
use crate::text::printable;

/// The maximum size of one file in bytes.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The maximum number of files and folders below a listed folder.
const ENTRIES_MAX: usize = 1_000_000;
/// Omitted when the project's own folder is listed: large, and not part of the project.
const REPOSITORY: &str = ".git";

/// The folder of a project.
pub(crate) struct Disk {
    /// INVARIANT: canonical, so that a canonical path is inside exactly if it begins with this one.
    root: PathBuf,
}

impl Disk {
    /// Opens the folder at `root`.
    pub(crate) fn open(root: &Path) -> io::Result<Self> {
        Ok(Self { root: fs::canonicalize(root)? })
    }

    /// Returns the location of a project path, with every link resolved.
    fn locate(&self, path: &str) -> Result<PathBuf, ReadError> {
        let relative = Path::new(path);
        let plain = |component| matches!(component, Component::Normal(_));
        if !relative.components().all(plain) {
            return Err(ReadError::Outside);
        }
        let found =
            fs::canonicalize(self.root.join(relative)).map_err(|error| read_error(&error))?;
        if found.starts_with(&self.root) { Ok(found) } else { Err(ReadError::Outside) }
    }
}

impl Files for Disk {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        let found = self.locate(path)?;
        // Checked before opening: opening a pipe blocks until its other end is open.
        let metadata = fs::metadata(&found).map_err(|error| read_error(&error))?;
        if !metadata.is_file() {
            return Err(ReadError::WrongKind { expected: "a file" });
        }
        too_large(metadata.len())?;
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
        File::open(&found)
            .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes))
            .map_err(|error| read_error(&error))?;
        too_large(bytes.len() as u64)?;
        Ok(bytes)
    }

    fn list(&self, folder: &str) -> Result<Vec<Listed>, ReadError> {
        let found = self.locate(folder)?;
        if !found.is_dir() {
            return Err(ReadError::WrongKind { expected: "a folder" });
        }
        let mut walk = Walk { root: &self.root, files: Vec::new(), folders: Vec::new(), seen: 0 };
        walk.enter(&Folder { path: folder.into(), found, left: Vec::new(), fault: None })?;
        while let Some(folder) = walk.folders.pop() {
            // One that cannot be read is no end of the others.
            if let Err(fault) = walk.enter(&folder) {
                let (path, link) = (format!("{}/", folder.path), folder.is_linked());
                walk.files.push(Listed { path, link, fault: Some(fault) });
            }
        }
        walk.files.sort();
        Ok(walk.files)
    }
}

/// A listing in progress.
struct Walk<'d> {
    root: &'d Path,
    files: Vec<Listed>,
    folders: Vec<Folder>,
    seen: usize,
}

struct Folder {
    /// The path from the project's folder.
    path: String,
    /// The path with every link resolved.
    found: PathBuf,
    /// The folders, with every link resolved, in which the links of the path are.
    left: Vec<PathBuf>,
    /// What is wrong with the path.
    fault: Option<ReadError>,
}

impl Folder {
    /// Returns whether the path contains a link.
    fn is_linked(&self) -> bool {
        !self.left.is_empty()
    }

    /// Returns whether the path to this folder goes through `other`, or through a folder in it.
    fn has_passed(&self, other: &Path) -> bool {
        let mut passed = self.left.iter().chain([&self.found]);
        passed.any(|folder| folder.starts_with(other))
    }
}

impl Walk<'_> {
    fn enter(&mut self, folder: &Folder) -> Result<(), ReadError> {
        let failed = |error: io::Error| ReadError::Io { reason: reason(&error) };
        for entry in fs::read_dir(&folder.found).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            self.seen += 1;
            if self.seen > ENTRIES_MAX {
                return Err(ReadError::Io {
                    reason: format!("it has more than {ENTRIES_MAX} files and folders"),
                });
            }
            let (path, fault) = path_of(folder, &entry);
            if path != REPOSITORY {
                self.take(folder, &entry, path, fault, entry.file_type().map_err(failed)?);
            }
        }
        Ok(())
    }

    fn take(
        &mut self,
        folder: &Folder,
        entry: &DirEntry,
        path: String,
        fault: Option<ReadError>,
        kind: fs::FileType,
    ) {
        let link = folder.is_linked() || kind.is_symlink();
        if kind.is_dir() {
            let found = folder.found.join(entry.file_name());
            self.folders.push(Folder { path, found, left: folder.left.clone(), fault });
            return;
        }
        let target = kind.is_symlink().then(|| fs::canonicalize(entry.path()));
        match target {
            Some(Ok(found)) if found.is_dir() && !found.starts_with(self.root) => {
                let (path, fault) = (format!("{path}/"), Some(ReadError::Outside));
                self.files.push(Listed { path, link, fault });
            }
            // Following a link to a folder that the path has already passed would never end. Its
            // files are listed anyway, so only the link itself is listed.
            Some(Ok(found)) if found.is_dir() && !folder.has_passed(&found) => {
                let mut left = folder.left.clone();
                left.push(folder.found.clone());
                self.folders.push(Folder { path, found, left, fault });
            }
            _ => self.files.push(Listed { path, link, fault }),
        }
    }
}

/// Returns the path of an entry, and what is wrong with its name.
fn path_of(folder: &Folder, entry: &DirEntry) -> (String, Option<ReadError>) {
    let name = entry.file_name();
    let wrong = match name.to_str() {
        None => Some("is not UTF-8"),
        // A line end in a name could write a line of a report or of `relay show`.
        Some(name) if printable(name) != name || name.contains(['\n', '\t']) => {
            Some("has a control character")
        }
        Some(_) => None,
    };
    let fault = wrong.map(|wrong| ReadError::Io {
        reason: format!("its name, or that of a folder above it, {wrong}; rename it"),
    });
    let fault = fault.or_else(|| folder.fault.clone());
    let name = name.to_string_lossy();
    let path = match folder.path.as_str() {
        "" => name.into_owned(),
        above => format!("{above}/{name}"),
    };
    (path, fault)
}

fn too_large(bytes: u64) -> Result<(), ReadError> {
    if bytes > FILE_BYTES_MAX {
        return Err(ReadError::TooLarge { bytes, limit: FILE_BYTES_MAX });
    }
    Ok(())
}

fn read_error(error: &io::Error) -> ReadError {
    match error.kind() {
        // A path through a file instead of a folder is also missing.
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ReadError::NotFound,
        _ => ReadError::Io { reason: reason(error) },
    }
}
