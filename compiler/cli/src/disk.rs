//! Reading and writing whole files. A write is atomic: another process sees all of it or nothing.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::{Builder, NamedTempFile};

use crate::failure::Failure;
use crate::text::shown_path;

/// The users who may read a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// All users.
    AllUsers,
    /// All users, who may run it.
    Program,
    /// Its owner.
    Owner,
}

impl Access {
    fn permissions(self) -> Option<Permissions> {
        #[cfg(unix)]
        return Some(std::os::unix::fs::PermissionsExt::from_mode(match self {
            Self::AllUsers => 0o644,
            Self::Program => 0o755,
            Self::Owner => 0o600,
        }));
        #[cfg(not(unix))]
        None
    }
}

/// Returns whether a file begins with these bytes.
pub(crate) fn begins_with(path: &Path, beginning: &[u8]) -> Result<bool, Failure> {
    let fail = |error| Failure::file("read", path, &error);
    let mut first = Vec::with_capacity(beginning.len());
    let file = File::open(path).map_err(fail)?;
    file.take(beginning.len() as u64).read_to_end(&mut first).map_err(fail)?;
    Ok(first == beginning)
}

/// Returns the bytes of a file that begins with `beginning`, at most `bytes_max` of them. Of any
/// other file it returns only the first page, which is enough to report the error.
pub(crate) fn read_that_begins(
    path: &Path,
    beginning: &[u8],
    bytes_max: u64,
) -> Result<Vec<u8>, Failure> {
    const PAGE: u64 = 4096;
    let fail = |error| Failure::file("read", path, &error);
    // Opened once: it may be a pipe, which can be read only once.
    let file = File::open(path).map_err(fail)?;
    let length = file.metadata().map_err(fail)?.len().min(bytes_max);
    let mut file = file.take(PAGE);
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(fail)?;
    if bytes.starts_with(beginning) {
        // A vector that grows as it is read has twice the memory of a large file for a while.
        let missing = usize::try_from(length).unwrap_or_default().saturating_sub(bytes.len());
        bytes.reserve_exact(missing);
        file.into_inner().take(bytes_max).read_to_end(&mut bytes).map_err(fail)?;
    }
    Ok(bytes)
}

/// Returns the text of a file of at most `bytes_max` bytes.
pub(crate) fn read_text(path: &Path, bytes_max: u64) -> Result<String, Failure> {
    let fail = |error: io::Error| Failure::file("read", path, &error);
    let mut text = String::new();
    let length = File::open(path).map_err(fail)?.take(bytes_max + 1).read_to_string(&mut text);
    match length {
        Ok(length) if length as u64 > bytes_max => Err(Failure::error(format!(
            "cannot use `{}`: it is larger than {bytes_max} bytes",
            shown_path(path)
        ))),
        Ok(_) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(Failure::error(format!("cannot read `{}`: it is not text", shown_path(path))))
        }
        Err(error) => Err(fail(error)),
    }
}

/// Writes a file with these bytes at `path`, replacing an existing file but keeping its
/// permissions. All users may read a new file.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    replace_with(path, &[bytes])
}

/// The same with the bytes of all `parts`, one after the other.
pub(crate) fn replace_with(path: &Path, parts: &[&[u8]]) -> Result<(), Failure> {
    Draft::write(path, parts)?.persist()
}

/// Writes a file as [`replace`] does if it still has the bytes `old`. Returns false, and leaves the file as it is,
/// if it has others: a person saved it in between.
///
/// The comparison comes right before the rename, so only a save between these two calls of the system is lost.
pub(crate) fn replace_unchanged(path: &Path, old: &[u8], bytes: &[u8]) -> Result<bool, Failure> {
    let draft = Draft::write(path, &[bytes])?;
    let is_unchanged = fs::read(&draft.target).is_ok_and(|now| now == old);
    if is_unchanged {
        draft.persist()?;
    }
    Ok(is_unchanged)
}

/// A finished file beside the one that it replaces; it is removed unless it is persisted.
pub(crate) struct Draft {
    path: PathBuf,
    target: PathBuf,
    file: NamedTempFile,
}

impl Draft {
    /// Writes it with the bytes of all `parts`, one after the other.
    pub(crate) fn write(path: &Path, parts: &[&[u8]]) -> Result<Self, Failure> {
        let fail = |error: io::Error| Failure::file("write", path, &error);
        // A link stays a link: its target is replaced.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let permissions = match fs::metadata(&target) {
            Ok(old) if old.is_file() => Some(old.permissions()),
            Ok(_) => {
                return Err(Failure::error(format!(
                    "cannot write `{}`: it exists and is not a file",
                    shown_path(path)
                )));
            }
            Err(_) => None,
        };
        let file = write_temporary(&target, parts, Access::AllUsers).map_err(fail)?;
        file.as_file().sync_all().map_err(fail)?;
        if let Some(permissions) = permissions {
            file.as_file().set_permissions(permissions).map_err(fail)?;
        }
        Ok(Self { path: path.to_owned(), target, file })
    }

    /// Puts it in the place of the file that it replaces.
    pub(crate) fn persist(self) -> Result<(), Failure> {
        let Self { path, target, file } = self;
        let fail = |error: io::Error| Failure::file("write", &path, &error);
        file.persist(&target).map_err(|error| fail(error.error))?;
        Ok(())
    }
}

/// Writes a new file with these bytes at `path`. Returns false if the path already exists.
pub(crate) fn create(path: &Path, bytes: &[u8], access: Access) -> Result<bool, Failure> {
    let fail = |error: &io::Error| Failure::file("write", path, error);
    let file = write_temporary(path, &[bytes], access).map_err(|error| fail(&error))?;
    file.as_file().sync_all().map_err(|error| fail(&error))?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(fail(&error.error)),
    }
}

/// Writes new files below a folder, with their folders, in this order: all of them, or none if one fails.
/// `taken` is the failure for a path that exists.
pub(crate) fn create_all(
    folder: &Path,
    files: &[(&str, &[u8])],
    taken: impl Fn(&Path) -> Failure,
) -> Result<(), Failure> {
    let mut paths: Vec<_> = files.iter().map(|(path, _)| Path::new(path)).collect();
    // A folder comes right before the paths in it.
    paths.sort();
    for (path, next) in paths.iter().zip(paths.iter().skip(1)) {
        if next.starts_with(path) {
            let (path, next) = (shown_path(path), shown_path(next));
            return Err(Failure::error(format!("`{path}` cannot be a file beside `{next}`"))
                .help("give one of them another name"));
        }
    }
    let mut written = Written::default();
    for (path, bytes) in files {
        let path = folder.join(path);
        let done = written.folders_of(&path).and_then(|()| {
            match create(&path, bytes, Access::AllUsers)? {
                true => Ok(()),
                false => Err(taken(&path)),
            }
        });
        if let Err(failure) = done {
            written.undo();
            return Err(failure);
        }
        written.files.push(path);
    }
    Ok(())
}

/// The files and folders that were created so far.
#[derive(Default)]
struct Written {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Written {
    /// Creates the missing folders of a path.
    fn folders_of(&mut self, path: &Path) -> Result<(), Failure> {
        let parent = folder_of(path);
        let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let missing: Vec<_> = parent.ancestors().take_while(is_missing).collect();
        for folder in missing.into_iter().rev() {
            fs::create_dir(folder).map_err(|error| Failure::file("create", folder, &error))?;
            self.folders.push(folder.to_owned());
        }
        if !parent.is_dir() {
            let (path, parent) = (shown_path(path), shown_path(&parent));
            return Err(Failure::error(format!("cannot create `{path}`: `{parent}` is a file")));
        }
        Ok(())
    }

    /// Removes the files, and the folders that are empty then.
    fn undo(self) {
        for file in &self.files {
            // The first failure is the one to report.
            let _ = fs::remove_file(file);
        }
        for folder in self.folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Creates a folder, and its parents, that only its owner may enter.
pub(crate) fn create_private_folder(path: &Path) -> Result<(), Failure> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| Failure::file("create", path, &error))
}

/// Returns the folder of a path, `.` for a bare name.
pub(crate) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Writes a file of a cache, which a loss of power may lose: nothing waits for the disk.
pub(crate) fn replace_cached(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_temporary(path, &[bytes], Access::AllUsers)?.persist(path)?;
    Ok(())
}

/// Removes the temporary files of a folder that were written longer ago than `age`: their process was
/// killed.
pub(crate) fn remove_temporary(folder: &Path, age: Duration) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_temporary = entry.file_name().to_string_lossy().starts_with(TEMPORARY);
        // Another process may remove it at the same time.
        let written = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        let is_old = written.and_then(|at| at.elapsed().ok()).is_some_and(|since| since > age);
        if is_temporary && is_old {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The beginning of the name of a temporary file.
const TEMPORARY: &str = ".relay-";

/// Writes a temporary file in the folder of `path`: a rename works within one file system only.
fn write_temporary(path: &Path, parts: &[&[u8]], access: Access) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(TEMPORARY);
    let permissions = access.permissions();
    if let Some(permissions) = permissions {
        builder.permissions(permissions);
    }
    let mut file = builder.tempfile_in(folder_of(path))?;
    for part in parts {
        file.write_all(part)?;
    }
    Ok(file)
}
