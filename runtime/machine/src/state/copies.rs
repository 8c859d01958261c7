//! Private copies of bundles: in the state folder, or in a cache of this user.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;

use relay_bundle::{Digest, HEADER_BYTES, Outline, outline};
use relay_engine::system_error::reason;
use tempfile::NamedTempFile;

use super::error::StateError;
use crate::clock;
use crate::file::regular_file;

/// Kept copies; older ones are removed when a new one is added.
const COPIES_MAX: usize = 8;
/// Incomplete files of a crashed server are removed after this time.
const ABANDONED: Duration = Duration::from_secs(3600);
/// The file of the program that runs, also after another file took its name.
const PROGRAM: &str = "/proc/self/exe";
/// The most hashed bytes after a bundle's content, for the name of its copy.
const ENVELOPE_BYTES_NAMED: u64 = 1 << 20;
/// The suffix of an incomplete file.
const PARTIAL: &str = ".partial";

/// A folder of private copies, private to this user.
#[derive(Debug)]
pub struct Copies {
    folder: PathBuf,
    /// Whether a loss of power may lose a copy, which then is made again.
    is_cache: bool,
}

/// A private copy of a bundle.
#[derive(Debug)]
pub struct PrivateCopy {
    /// The copy, read-only.
    pub file: File,
    /// Its final name.
    pub path: PathBuf,
    /// The file under its temporary name, until the bundle was checked. It is removed on drop.
    partial: Option<NamedTempFile>,
}

impl PrivateCopy {
    /// Returns whether the copy is new, and so needs a check.
    pub fn is_new(&self) -> bool {
        self.partial.is_some()
    }
}

impl Copies {
    /// Opens the folder at `path`, created if missing.
    ///
    /// # Errors
    ///
    /// It cannot be made, or others may write to it.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        private_folder(path)?;
        prune(path);
        Ok(Self { folder: path.to_owned(), is_cache: false })
    }

    /// Opens a folder whose copies are a cache: nothing waits for the disk to keep one.
    ///
    /// # Errors
    ///
    /// As for [`Self::open`].
    pub fn open_cache(path: &Path) -> Result<Self, StateError> {
        Ok(Self { is_cache: true, ..Self::open(path)? })
    }

    /// Returns whether the copies are a cache.
    #[must_use]
    pub fn is_cache(&self) -> bool {
        self.is_cache
    }

    /// Returns the private copy of the bundle in `source`, created if missing.
    pub fn private_copy(&self, source: &File, bytes_max: u64) -> Result<PrivateCopy, StateError> {
        let copy = |source| StateError::Copy { source };
        let program = program();
        let name = copy_name(source, &program)?;
        let path = self.folder.join(&name);
        if let Some(file) = existing_copy(&path, &name, &program).map_err(copy)? {
            return Ok(PrivateCopy { file, path, partial: None });
        }
        // Servers with a shared folder may have the same process id, so the name is random.
        let mut partial = tempfile::Builder::new()
            .prefix("copy-")
            .suffix(PARTIAL)
            .tempfile_in(&self.folder)
            .map_err(copy)?;
        regular_file::copy_whole(source, partial.as_file_mut(), bytes_max).map_err(copy)?;
        partial.as_file().set_permissions(Permissions::from_mode(0o400)).map_err(copy)?;
        // For reading: only root could open the file for writing now.
        let file = File::open(partial.path()).map_err(copy)?;
        Ok(PrivateCopy { file, path, partial: Some(partial) })
    }

    /// Keeps a checked copy, and removes the least recently used ones.
    pub fn keep(&self, copy: PrivateCopy) -> Result<(), StateError> {
        let PrivateCopy { file, path, partial } = copy;
        if let Some(partial) = partial {
            // The bytes must be on the disk before the final name is. A copy of a cache that is torn has
            // another name than its bytes, or a damaged page, and is removed.
            if !self.is_cache {
                file.sync_all().map_err(|source| StateError::Copy { source })?;
            }
            partial.persist(path).map_err(|error| StateError::Copy { source: error.error })?;
            prune(&self.folder);
        }
        Ok(())
    }
}

/// Makes a folder that only this user may write to, or checks the one that is there.
pub(super) fn private_folder(path: &Path) -> Result<(), StateError> {
    let folder = |source| StateError::Folder { path: path.to_owned(), source };
    DirBuilder::new().mode(0o700).recursive(true).create(path).map_err(folder)?;
    let metadata = fs::metadata(path).map_err(folder)?;
    let own = metadata.uid() == rustix::process::geteuid().as_raw();
    if own && metadata.mode() & 0o022 == 0 {
        Ok(())
    } else {
        Err(StateError::NotPrivate { path: path.to_owned() })
    }
}

/// Reads the layout of the bundle in `source`, and checks it against the length of the file, so
/// that another file is refused before it is copied.
pub fn check_outline(source: &File) -> Result<Outline, StateError> {
    let copy = |source| StateError::Copy { source };
    let start = read_at(source, 0, HEADER_BYTES as u64).map_err(copy)?;
    let outline = outline(&start)?;
    outline.check_length(source.metadata().map_err(copy)?.len())?;
    Ok(outline)
}

/// Returns the name of the copy of `source`: its digest, with a digest of the bytes after its
/// content and of this program. So two signatures of one bundle have two copies, and a bundle of which
/// another program keeps a copy is checked by this one too.
fn copy_name(source: &File, program: &str) -> Result<String, StateError> {
    let copy = |source| StateError::Copy { source };
    let outline = check_outline(source)?;
    let length = source.metadata().map_err(copy)?.len();
    let front = read_at(source, 0, outline.front_bytes as u64).map_err(copy)?;
    let trailer = read_at(source, outline.content_bytes, ENVELOPE_BYTES_NAMED).map_err(copy)?;
    let envelope = Digest::of_parts(&[&length.to_le_bytes(), &trailer, program.as_bytes()]).hex();
    let envelope = envelope.get(..16).unwrap_or_default();
    Ok(format!("{}-{envelope}.relay", Digest::of(&front).hex()))
}

/// Returns a text of the file of this program alone: another build may check less, or read the same bytes
/// otherwise.
fn program() -> String {
    match fs::metadata(PROGRAM) {
        // Containers of one image have different devices.
        Ok(it) => format!("{} {} {}.{}", it.ino(), it.len(), it.mtime(), it.mtime_nsec()),
        // Without `/proc` each process makes its own copy.
        Err(_) => format!("{} {}", process::id(), clock::timestamp()),
    }
}

/// Reads `length` bytes, or fewer at the end of the file.
fn read_at(file: &File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let end = file.metadata()?.len();
    let length = length.min(end.saturating_sub(offset));
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}

/// Opens the copy at `path`.
///
/// Its length, header, table and envelope must still have the `name` from its creation. A copy
/// damaged since then is removed and counts as missing. Its pages are checked when they are first
/// used; see [`remove_copy`].
fn existing_copy(path: &Path, name: &str, program: &str) -> io::Result<Option<File>> {
    let file = match regular_file::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !copy_name(&file, program).is_ok_and(|found| found == name) {
        remove_copy(path);
        return Ok(None);
    }
    // Its modification time is the time of last use: the oldest copies are removed first.
    _ = file.set_modified(clock::now());
    Ok(Some(file))
}

/// Removes a damaged copy, so that the next load makes another.
pub fn remove_copy(path: &Path) {
    match fs::remove_file(path) {
        Ok(()) => tracing::warn!("removed the damaged copy `{}`", path.display()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => {
            tracing::error!(
                "cannot remove the damaged copy `{}`: {}",
                path.display(),
                reason(&error)
            );
        }
    }
}

/// Removes all but the newest copies, and incomplete files of crashed servers. A copy mapped by a
/// server stays readable after its name is gone. Files that remain are tried again next time.
fn prune(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut copies = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(modified) = entry.metadata().and_then(|metadata| metadata.modified()) else {
            continue;
        };
        if entry.file_name().to_string_lossy().ends_with(PARTIAL) {
            if modified.elapsed().is_ok_and(|age| age > ABANDONED) {
                _ = fs::remove_file(path);
            }
        } else {
            copies.push((modified, path));
        }
    }
    copies.sort();
    let surplus = copies.len().saturating_sub(COPIES_MAX);
    for (_, path) in copies.into_iter().take(surplus) {
        _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header of format 1 with an empty table of sections, and an empty envelope.
    fn bundle(folder: &Path) -> File {
        let mut bytes = relay_bundle::MAGIC.to_vec();
        bytes.extend([1, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend(64_u64.to_le_bytes());
        bytes.resize(72, 0);
        let path = folder.join("source.relay");
        fs::write(&path, bytes).expect("the folder can be written");
        File::open(path).expect("it was written")
    }

    #[test]
    fn two_servers_with_one_process_id_copy_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let source = bundle(folder.path());
        let copies = || Copies::open(&folder.path().join("copies")).expect("a folder of copies");
        let (one, two) = (copies(), copies());
        let first = one.private_copy(&source, 1000).expect("a copy");
        let second = two.private_copy(&bundle(folder.path()), 1000).expect("a copy");
        assert!(first.is_new() && second.is_new());
        one.keep(first).expect("the first is kept");
        two.keep(second).expect("the second is kept");
        assert!(!one.private_copy(&source, 1000).expect("a copy").is_new());
    }

    #[test]
    fn files_of_a_server_that_crashed_are_removed_after_a_while() {
        let folder = tempfile::tempdir().expect("a folder");
        let copies = folder.path().join("copies");
        Copies::open(&copies).expect("a folder of copies");
        let file = |name: &str, age: Duration| {
            let path = copies.join(name);
            let file = File::create(&path).expect("a file");
            file.set_modified(clock::now() - age).expect("a time");
            path
        };
        let stale = file("copy-x1.partial", ABANDONED + Duration::from_secs(1));
        let fresh = file("copy-x2.partial", Duration::ZERO);
        Copies::open(&copies).expect("a folder of copies");
        assert!(!stale.exists() && fresh.exists());
    }
}
