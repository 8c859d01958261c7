//! The state folder: private copies of bundles, and the highest epoch that was served.
//!
//! Several servers may share one folder and start at the same moment, so no locks are used: a file
//! appears complete under its final name or not at all, and is never changed later.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::time::Duration;

use relay_bundle::{Digest, HEADER_BYTES, OpenError, outline};
use thiserror::Error;

use crate::clock;

/// Copies that are kept; older ones are removed when a new one is added.
const COPIES_MAX: usize = 8;
/// Incomplete files of a crashed server are removed after this time.
const ABANDONED: Duration = Duration::from_secs(3600);
/// The most bytes after a bundle's content that are hashed for the name of its copy.
const ENVELOPE_BYTES_NAMED: u64 = 1 << 20;
/// The suffix of a file that is still being written.
const PARTIAL: &str = "partial";

/// The state folder, private to this user.
#[derive(Debug)]
pub(crate) struct State {
    copies: PathBuf,
    epochs: PathBuf,
}

/// Why the state folder cannot be used.
#[derive(Debug, Error)]
pub(crate) enum StateError {
    #[error("cannot use the state folder `{}`: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error(
        "the state folder `{}` belongs to another user, or others may write to it: make it yours alone (`chmod 700`)",
        path.display()
    )]
    NotPrivate { path: PathBuf },
    #[error("cannot copy the bundle into the state folder: {source}")]
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
pub(crate) struct PrivateCopy {
    /// The copy, read-only.
    pub(crate) file: File,
    /// The file at its final name, until the bundle was checked.
    pending: Option<Pending>,
}

impl PrivateCopy {
    /// Returns whether the copy is new, so that it has to be checked.
    pub(crate) fn is_new(&self) -> bool {
        self.pending.is_some()
    }
}

impl State {
    /// Opens the folder at `path`, which is created if it is missing.
    pub(crate) fn open(path: &Path) -> Result<Self, StateError> {
        let state = Self { copies: path.join("bundles"), epochs: path.join("epochs") };
        for folder in [path, &state.copies, &state.epochs] {
            private_folder(folder)?;
        }
        Ok(state)
    }

    /// Returns the private copy of the bundle in `source`, which is created if it is missing.
    pub(crate) fn private_copy(
        &self,
        source: &File,
        bytes_max: u64,
    ) -> Result<PrivateCopy, StateError> {
        let copy = |source| StateError::Copy { source };
        let path = self.copies.join(copy_name(source)?);
        if let Some(file) = existing_copy(&path, source).map_err(copy)? {
            return Ok(PrivateCopy { file, pending: None });
        }
        let pending = Pending::new(path);
        let mut target = pending.create().map_err(copy)?;
        let copied =
            io::copy(&mut io::Read::take(source, bytes_max.saturating_add(1)), &mut target)
                .map_err(copy)?;
        if copied > bytes_max {
            let grown = format!("it grew over the limit of {bytes_max} bytes");
            return Err(copy(io::Error::other(grown)));
        }
        target.set_permissions(Permissions::from_mode(0o400)).map_err(copy)?;
        let file = File::open(&pending.partial).map_err(copy)?;
        Ok(PrivateCopy { file, pending: Some(pending) })
    }

    /// Keeps a copy that was checked, and removes the least recently used ones.
    pub(crate) fn keep(&self, copy: PrivateCopy) -> Result<(), StateError> {
        let PrivateCopy { file, pending } = copy;
        if let Some(pending) = pending {
            file.sync_all().map_err(|source| StateError::Copy { source })?;
            pending.publish().map_err(|source| StateError::Copy { source })?;
            prune(&self.copies);
        }
        Ok(())
    }

    /// Returns the highest epoch of `project` that was served under this version of the trust file.
    ///
    /// A higher version forgets the epochs of earlier ones. A lower version is an error.
    pub(crate) fn highest_epoch(
        &self,
        project: &str,
        trust_version: u64,
    ) -> Result<u64, StateError> {
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

    /// Remembers that this epoch of `project` was served.
    ///
    /// A mark is an empty file whose name says everything. Two servers that remember at once make
    /// two marks, and the higher one counts: the order of writing does not matter.
    pub(crate) fn remember_epoch(
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

/// Returns the name of the copy of `source`: its digest and that of the bytes after its content, so
/// that two signatures of one bundle have two copies.
fn copy_name(source: &File) -> Result<String, StateError> {
    let copy = |source| StateError::Copy { source };
    let length = source.metadata().map_err(copy)?.len();
    let start = read_at(source, 0, HEADER_BYTES as u64).map_err(copy)?;
    let outline = outline(&start)?;
    let front = read_at(source, 0, outline.front_bytes as u64).map_err(copy)?;
    let trailer = read_at(source, outline.content_bytes, ENVELOPE_BYTES_NAMED).map_err(copy)?;
    let envelope = Digest::of_parts(&[&length.to_le_bytes(), &trailer]).hex();
    let envelope = envelope.get(..16).unwrap_or_default();
    Ok(format!("{}-{envelope}.relay", Digest::of(&front).hex()))
}

/// Reads up to `length` bytes; fewer only at the end of the file.
fn read_at(file: &File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let end = file.metadata()?.len();
    let length = length.min(end.saturating_sub(offset));
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}

/// Opens the copy at `path`. A copy that a crash left incomplete is removed and counts as missing.
fn existing_copy(path: &Path, source: &File) -> io::Result<Option<File>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if file.metadata()?.len() != source.metadata()?.len() {
        fs::remove_file(path)?;
        return Ok(None);
    }
    // Its modification time is the time of last use: the oldest copies are removed first.
    _ = file.set_modified(clock::now());
    Ok(Some(file))
}

/// A file that is written under a temporary name. If it is dropped before it is published, it is
/// removed.
#[derive(Debug)]
struct Pending {
    partial: PathBuf,
    path: PathBuf,
    published: bool,
}

impl Pending {
    fn new(path: PathBuf) -> Self {
        // The process id makes the name unique: one server loads one bundle at a time.
        let partial = path.with_extension(format!("{}.{PARTIAL}", std::process::id()));
        Self { partial, path, published: false }
    }

    fn create(&self) -> io::Result<File> {
        match fs::remove_file(&self.partial) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.partial)
    }

    fn publish(mut self) -> io::Result<()> {
        fs::rename(&self.partial, &self.path)?;
        self.published = true;
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.published {
            _ = fs::remove_file(&self.partial);
        }
    }
}

/// Removes all but the newest copies, and incomplete files of crashed servers. A copy that a server
/// has mapped stays readable without its name. Files that cannot be removed are tried again next
/// time.
fn prune(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut copies = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(modified) = entry.metadata().and_then(|metadata| metadata.modified()) else {
            continue;
        };
        if path.extension().is_some_and(|extension| extension == PARTIAL) {
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
