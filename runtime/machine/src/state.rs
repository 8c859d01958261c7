//! The state folder: private copies of bundles, and the highest served epoch.
//!
//! Several servers may share one folder and start at the same moment, so the names of files replace
//! locks: a file appears complete under its final name, and then stays the same.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use relay_bundle::{Digest, HEADER_BYTES, OpenError, Outline, outline};
use relay_engine::system_error::reason;
use tempfile::NamedTempFile;
use thiserror::Error;

use crate::clock;
use crate::file::regular_file;

/// Kept copies; older ones are removed when a new one is added.
const COPIES_MAX: usize = 8;
/// Incomplete files of a crashed server are removed after this time.
const ABANDONED: Duration = Duration::from_secs(3600);
/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The number of the checks that a copy passes before it is kept: a copy that passed fewer is checked
/// again.
const CHECKS: u8 = 2;
/// The file whose time of modification is the latest time that was seen.
const CLOCK: &str = "clock";
/// A later time is remembered at this interval, in seconds.
const CLOCK_INTERVAL_S: u64 = 60;
/// The most hashed bytes after a bundle's content, for the name of its copy.
const ENVELOPE_BYTES_NAMED: u64 = 1 << 20;
/// The suffix of an incomplete file.
const PARTIAL: &str = ".partial";

/// The state folder, private to this user.
#[derive(Debug)]
pub struct State {
    copies: PathBuf,
    epochs: PathBuf,
    clock: PathBuf,
}

/// An error of the state folder.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the message of each variant says it, with its fields")]
pub enum StateError {
    #[error("cannot use the state folder `{}`: {}", path.display(), reason(source))]
    Folder { path: PathBuf, source: io::Error },
    #[error(
        "the state folder `{}` belongs to another user, or others may write to it: make it yours alone (`chmod 700`)",
        path.display()
    )]
    NotPrivate { path: PathBuf },
    #[error("cannot copy the bundle into the state folder: {}", reason(source))]
    Copy { source: io::Error },
    #[error(transparent)]
    Bundle(#[from] OpenError),
    #[error(
        "the trust file has version {given}, but version {seen} was in force before: put the newer trust file back, or remove `{}` to start afresh",
        path.display()
    )]
    TrustVersion { given: u64, seen: u64, path: PathBuf },
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

impl State {
    /// Opens the folder at `path`, created if missing.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        let state = Self {
            copies: path.join("bundles"),
            epochs: path.join("epochs"),
            clock: path.join(CLOCK),
        };
        for folder in [path, &state.copies, &state.epochs] {
            private_folder(folder)?;
        }
        prune(&state.copies);
        Ok(state)
    }

    /// Returns the private copy of the bundle in `source`, created if missing.
    pub fn private_copy(&self, source: &File, bytes_max: u64) -> Result<PrivateCopy, StateError> {
        let copy = |source| StateError::Copy { source };
        let name = copy_name(source)?;
        let path = self.copies.join(&name);
        if let Some(file) = existing_copy(&path, &name).map_err(copy)? {
            return Ok(PrivateCopy { file, path, partial: None });
        }
        // Servers with a shared folder may have the same process id, so the name is random.
        let mut partial = tempfile::Builder::new()
            .prefix("copy-")
            .suffix(PARTIAL)
            .tempfile_in(&self.copies)
            .map_err(copy)?;
        let copied =
            io::copy(&mut io::Read::take(source, bytes_max.saturating_add(1)), &mut partial)
                .map_err(copy)?;
        if copied > bytes_max {
            let grown = format!("it grew over the limit of {bytes_max} bytes");
            return Err(copy(io::Error::other(grown)));
        }
        partial.as_file().set_permissions(Permissions::from_mode(0o400)).map_err(copy)?;
        // For reading: only root could open the file for writing now.
        let file = File::open(partial.path()).map_err(copy)?;
        Ok(PrivateCopy { file, path, partial: Some(partial) })
    }

    /// Keeps a checked copy, and removes the least recently used ones.
    pub fn keep(&self, copy: PrivateCopy) -> Result<(), StateError> {
        let PrivateCopy { file, path, partial } = copy;
        if let Some(partial) = partial {
            // The bytes must be on the disk before the final name is.
            file.sync_all().map_err(|source| StateError::Copy { source })?;
            partial.persist(path).map_err(|error| StateError::Copy { source: error.error })?;
            prune(&self.copies);
        }
        Ok(())
    }

    /// Returns the highest served epoch of `project` under this version of the trust file.
    ///
    /// A higher version forgets the epochs of earlier ones. A lower version is an error.
    pub fn highest_epoch(&self, project: &str, trust_version: u64) -> Result<u64, StateError> {
        let folder = self.epochs.join(project_folder(project));
        let highest = marks(&folder)
            .map_err(|source| StateError::Folder { path: folder.clone(), source })?
            .into_iter()
            .max_by_key(|mark| (mark.trust_version, mark.epoch));
        match highest {
            Some(mark) if mark.trust_version > trust_version => Err(StateError::TrustVersion {
                given: trust_version,
                seen: mark.trust_version,
                path: folder,
            }),
            Some(mark) if mark.trust_version == trust_version => Ok(mark.epoch),
            _ => Ok(0),
        }
    }

    /// Returns the later of a time and the latest one that was seen, in seconds since 1970.
    ///
    /// # Errors
    ///
    /// Reading or remembering the time fails.
    pub fn latest_time(&self, now: u64) -> Result<u64, StateError> {
        let folder = |source| StateError::Folder { path: self.clock.clone(), source };
        let seen = match fs::symlink_metadata(&self.clock) {
            Ok(metadata) => u64::try_from(metadata.mtime()).unwrap_or(0),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(folder(error)),
        };
        if now > seen.saturating_add(CLOCK_INTERVAL_S) {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(false).mode(0o600);
            let file = options.open(&self.clock).map_err(folder)?;
            let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(now));
            file.set_modified(time.unwrap_or(SystemTime::UNIX_EPOCH)).map_err(folder)?;
        }
        Ok(now.max(seen))
    }

    /// Remembers that this epoch of `project` was served. A mark is an empty file whose name says
    /// everything. If two servers write marks at once, the higher one counts, in any order of
    /// writing.
    pub fn remember_epoch(
        &self,
        project: &str,
        trust_version: u64,
        epoch: u64,
    ) -> Result<(), StateError> {
        let folder = self.epochs.join(project_folder(project));
        let write = || -> io::Result<()> {
            DirBuilder::new().mode(0o700).recursive(true).create(&folder)?;
            let mark = Mark { trust_version, epoch };
            let path = folder.join(mark.name());
            if path.exists() {
                return Ok(());
            }
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
            // Before lower marks are removed: after a crash at any point one of them is left.
            File::open(&folder)?.sync_all()?;
            for lower in marks(&folder)? {
                if (lower.trust_version, lower.epoch) < (trust_version, epoch) {
                    _ = fs::remove_file(folder.join(lower.name()));
                }
            }
            Ok(())
        };
        write().map_err(|source| StateError::Folder { path: folder.clone(), source })
    }
}

fn private_folder(path: &Path) -> Result<(), StateError> {
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
/// content and of this version. So two signatures of one bundle have two copies, and a copy that
/// another version checked is checked again.
fn copy_name(source: &File) -> Result<String, StateError> {
    let copy = |source| StateError::Copy { source };
    let outline = check_outline(source)?;
    let length = source.metadata().map_err(copy)?.len();
    let front = read_at(source, 0, outline.front_bytes as u64).map_err(copy)?;
    let trailer = read_at(source, outline.content_bytes, ENVELOPE_BYTES_NAMED).map_err(copy)?;
    let envelope =
        Digest::of_parts(&[&length.to_le_bytes(), &trailer, VERSION.as_bytes(), &[CHECKS]]).hex();
    let envelope = envelope.get(..16).unwrap_or_default();
    Ok(format!("{}-{envelope}.relay", Digest::of(&front).hex()))
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
fn existing_copy(path: &Path, name: &str) -> io::Result<Option<File>> {
    let file = match regular_file::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !copy_name(&file).is_ok_and(|found| found == name) {
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

/// The record that an epoch was served under a version of the trust file.
struct Mark {
    trust_version: u64,
    epoch: u64,
}

impl Mark {
    fn name(&self) -> String {
        format!("trust-{}-epoch-{}", self.trust_version, self.epoch)
    }

    fn parse(name: &str) -> Option<Self> {
        let (trust_version, epoch) = name.strip_prefix("trust-")?.split_once("-epoch-")?;
        Some(Self { trust_version: trust_version.parse().ok()?, epoch: epoch.parse().ok()? })
    }
}

fn marks(folder: &Path) -> io::Result<Vec<Mark>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut marks = Vec::new();
    for entry in entries {
        marks.extend(entry?.file_name().to_str().and_then(Mark::parse));
    }
    Ok(marks)
}

/// Returns the folder of a project's marks. Names of projects are free text, so unsafe characters
/// are replaced, and a hash keeps the result unique.
fn project_folder(project: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let readable: String = project.chars().take(40).map(plain).collect();
    let hash = Digest::of(project.as_bytes()).hex();
    format!("{readable}-{}", hash.get(..16).unwrap_or_default())
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
        let state = || State::open(&folder.path().join("state")).expect("a state folder");
        let (one, two) = (state(), state());
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
        let state = folder.path().join("state");
        State::open(&state).expect("a state folder");
        let file = |name: &str, age: Duration| {
            let path = state.join("bundles").join(name);
            let file = File::create(&path).expect("a file");
            file.set_modified(clock::now() - age).expect("a time");
            path
        };
        let stale = file("copy-x1.partial", ABANDONED + Duration::from_secs(1));
        let fresh = file("copy-x2.partial", Duration::ZERO);
        State::open(&state).expect("a state folder");
        assert!(!stale.exists() && fresh.exists());
    }
}
