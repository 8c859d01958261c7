//! Files of a person: read with a limit, and replaced whole, with their mode and their owner.

use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

use tempfile::Builder;

use super::part::Part;
use super::place::Scope;
use crate::disk;
use crate::failure::Failure;
use crate::text::shown_path;
use crate::unified;

/// The most bytes of a client's file.
const BYTES_MAX: u64 = 8 << 20;

/// A change of a file, before it is made.
#[derive(Debug)]
pub(crate) struct Change {
    /// The path, as it is printed.
    pub(crate) path: PathBuf,
    /// The file that a link leads to, or the path itself.
    target: PathBuf,
    /// The text so far; `None` if the file is missing.
    pub(crate) old: Option<String>,
    /// The text afterwards; `None` if the file is to go.
    pub(crate) new: Option<String>,
    /// Whether a copy of the file is kept.
    pub(crate) keeps_copy: bool,
    /// The mode of a new file.
    mode: u32,
    /// The mode of new folders.
    folder_mode: u32,
}

/// Returns the text of a file; `None` if the file is missing.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Failure> {
    match fs::metadata(path) {
        Ok(_) => disk::read_text(path, BYTES_MAX).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::file("read", path, &error)),
    }
}

impl Change {
    /// Prepares a change of a file that links may lead to only within a folder.
    pub(crate) fn of(path: &Path, base: &Path, scope: Scope) -> Result<Self, Failure> {
        let target = resolved(path)?;
        let base = resolved(base)?;
        if !target.starts_with(&base) {
            let (path, target, base) = (shown_path(path), shown_path(&target), shown_path(&base));
            return Err(Failure::error(format!(
                "`{path}` leads to `{target}`, which is outside of `{base}`"
            ))
            .help(
                "replace the link by a file or a folder, or install for the place that it leads to",
            ));
        }
        let old = read(&target)?;
        let (mode, folder_mode) = match scope {
            Scope::User => (0o600, 0o700),
            Scope::Project | Scope::Managed => (0o644, 0o755),
        };
        let (path, new) = (path.to_owned(), old.clone());
        Ok(Self { path, target, old, new, keeps_copy: false, mode, folder_mode })
    }

    /// Makes the file a program that its owner runs.
    pub(crate) fn program(mut self) -> Self {
        self.mode |= 0o100 | ((self.mode & 0o044) >> 2);
        self
    }

    /// Returns whether anything changes.
    pub(crate) fn is_change(&self) -> bool {
        self.old != self.new
    }

    /// Returns the change as a unified diff.
    pub(crate) fn diff(&self) -> String {
        let path = shown_path(&self.path);
        let name = |text: &Option<String>| if text.is_some() { path.as_str() } else { "/dev/null" };
        let (old, new) = (self.old.as_deref().unwrap_or(""), self.new.as_deref().unwrap_or(""));
        match unified::hunks(old, new, [old, new]) {
            hunks if hunks.is_empty() => hunks,
            hunks => format!("--- {}\n+++ {}\n{hunks}", name(&self.old), name(&self.new)),
        }
    }

    /// Returns the path of the copy of the file before relay changed it.
    pub(crate) fn backup(&self) -> PathBuf {
        Part::backup(&self.target)
    }

    /// Makes the change. The first one keeps a copy of the file.
    pub(crate) fn write(&self) -> Result<(), Failure> {
        let Self { target, old, new, .. } = self;
        match (old, new) {
            (_, None) => remove(target),
            (None, Some(new)) => {
                let folder = disk::folder_of(target);
                fs::DirBuilder::new()
                    .recursive(true)
                    .mode(self.folder_mode)
                    .create(&folder)
                    .map_err(|error| Failure::file("create", &folder, &error))?;
                self.replace(new, None)
            }
            (Some(old), Some(new)) => {
                let metadata =
                    fs::metadata(target).map_err(|error| Failure::file("read", target, &error))?;
                if self.keeps_copy {
                    self.keep(old, &metadata)?;
                }
                self.replace(new, Some(&metadata))
            }
        }
    }

    /// Keeps a copy of the file, unless there is one.
    fn keep(&self, old: &str, metadata: &Metadata) -> Result<(), Failure> {
        let backup = self.backup();
        let failed = |error| Failure::file("create", &backup, &error);
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(metadata.mode() & 0o777)
            .open(&backup);
        match made {
            Ok(mut file) => {
                own(&file, metadata).map_err(failed)?;
                file.write_all(old.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }

    /// Replaces the file by a rename: another process sees all of it or nothing.
    fn replace(&self, new: &str, old: Option<&Metadata>) -> Result<(), Failure> {
        let target = &self.target;
        let failed = |error: io::Error| Failure::file("write", target, &error);
        let mode = old.map_or(self.mode, |old| old.mode() & 0o7777);
        let mut file = Builder::new()
            .prefix(".relay-")
            .tempfile_in(disk::folder_of(target))
            .map_err(failed)?;
        file.write_all(new.as_bytes()).map_err(failed)?;
        if let Some(old) = old {
            own(file.as_file(), old).map_err(failed)?;
        }
        file.as_file().set_permissions(fs::Permissions::from_mode(mode)).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        // A client or a person may have written it in the meantime.
        let now = read(target)?;
        if now != self.old {
            return Err(Failure::error(format!(
                "`{}` has changed in the meantime: run the command again",
                shown_path(target)
            )));
        }
        file.persist(target).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

/// Removes a file.
pub(crate) fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Failure::file("remove", path, &error))
        }
        _ => Ok(()),
    }
}

/// Gives a file the owner of another.
fn own(file: &fs::File, metadata: &Metadata) -> io::Result<()> {
    let now = file.metadata()?;
    if (now.uid(), now.gid()) == (metadata.uid(), metadata.gid()) {
        return Ok(());
    }
    std::os::unix::fs::fchown(file, Some(metadata.uid()), Some(metadata.gid()))
}

/// Returns a path with its links resolved, as far as it exists.
fn resolved(path: &Path) -> Result<PathBuf, Failure> {
    let mut rest = Vec::new();
    let mut at = path;
    loop {
        match fs::canonicalize(at) {
            Ok(mut found) => {
                found.extend(rest.iter().rev());
                return Ok(found);
            }
            Err(_) if fs::symlink_metadata(at).is_ok() => {
                return Err(Failure::error(format!(
                    "`{}` is a link that leads nowhere",
                    shown_path(at)
                ))
                .help("remove the link"));
            }
            Err(_) => {}
        }
        match (at.parent(), at.file_name()) {
            (Some(parent), Some(name)) => {
                rest.push(name);
                at = parent;
            }
            _ => return Ok(path.to_owned()),
        }
    }
}
