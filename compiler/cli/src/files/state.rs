//! The state of a file or folder on disk, by which a change is noticed without reading it.

use std::fmt::{self, Write as _};
use std::fs::{self, Metadata};
use std::path::Path;

use serde::{Deserialize, Serialize};

const NANOSECONDS: i64 = 1_000_000_000;
/// The first word of the state of a folder.
const FOLDER: &str = "folder";

/// The state of a file or folder, as a text, which is compared as it is: its
/// kind, the times of the last change of its contents and of its inode in nanoseconds since 1970, and then
/// device, inode and bytes. Writing a file changes its times, and replacing it changes the inode. Where the
/// system has no inodes, bytes alone follow the times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct State(String);

impl State {
    /// Returns the state of the file or folder that a path leads to; `None` if it leads to nothing.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|metadata| Self::from(&metadata))
    }

    pub(super) fn is_folder(&self) -> bool {
        self.0.starts_with(FOLDER)
    }

    /// Returns whether it was the same for so long before `seconds` since 1970 that a later change is
    /// sure to have given it other times: two changes within one tick of a file system's clock have
    /// the same time.
    pub(crate) fn rests_since(&self, seconds: u64) -> bool {
        /// The coarsest clock of a file system, that of FAT.
        const TICK_SECONDS: i64 = 2;
        let before = i64::try_from(seconds).unwrap_or(0).saturating_sub(TICK_SECONDS);
        let before = before.saturating_mul(NANOSECONDS);
        let mut times = self.0.split(' ').skip(1).map(str::parse::<i64>);
        let mut is_before =
            || times.next().is_some_and(|time| time.is_ok_and(|time| time < before));
        is_before() && is_before()
    }
}

impl From<&Metadata> for State {
    fn from(metadata: &Metadata) -> Self {
        // The longest one fits: a word and five numbers of 20 digits.
        let mut state = String::with_capacity(112);
        state.push_str(if metadata.is_dir() { FOLDER } else { "file" });
        // INVARIANT: a text takes any letters.
        _ = write(metadata, &mut state);
        Self(state)
    }
}

#[cfg(unix)]
fn write(metadata: &Metadata, out: &mut String) -> fmt::Result {
    use std::os::unix::fs::MetadataExt;
    let time = |seconds: i64, rest: i64| seconds.saturating_mul(NANOSECONDS) + rest;
    let modified = time(metadata.mtime(), metadata.mtime_nsec());
    let changed = time(metadata.ctime(), metadata.ctime_nsec());
    let (device, inode, bytes) = (metadata.dev(), metadata.ino(), metadata.size());
    write!(out, " {modified} {changed} {device} {inode} {bytes}")
}

#[cfg(not(unix))]
fn write(metadata: &Metadata, out: &mut String) -> fmt::Result {
    let modified = metadata.modified().ok();
    let since = modified.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let nanoseconds = since.map_or(0, |since| since.as_nanos());
    let modified = i64::try_from(nanoseconds).unwrap_or(i64::MAX);
    write!(out, " {modified} {modified} {}", metadata.len())
}
