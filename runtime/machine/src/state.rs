//! The state folder: private copies of bundles, and the highest served epoch.
//!
//! Several servers may share one folder and start at the same moment, so the names of files replace
//! locks: a file appears complete under its final name, and then stays the same.

mod copies;
mod error;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use relay_bundle::Digest;

pub use self::copies::{Copies, PrivateCopy, check_outline, remove_copy};
pub use self::error::StateError;

use self::copies::private_folder;

/// The file whose time of modification is the latest time that was seen.
const CLOCK: &str = "clock";
/// A later time is remembered at this interval, in seconds.
const CLOCK_INTERVAL_S: u64 = 60;

/// The state folder, private to this user.
#[derive(Debug)]
pub struct State {
    epochs: PathBuf,
    clock: PathBuf,
}

impl State {
    /// Opens the folder at `path`, created if missing, and the folder of copies in it.
    ///
    /// # Errors
    ///
    /// A folder cannot be made, or others may write to it.
    pub fn open(path: &Path) -> Result<(Self, Copies), StateError> {
        let state = Self { epochs: path.join("epochs"), clock: path.join(CLOCK) };
        for folder in [path, &state.epochs] {
            private_folder(folder)?;
        }
        let copies = Copies::open(&path.join("bundles"))?;
        Ok((state, copies))
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
