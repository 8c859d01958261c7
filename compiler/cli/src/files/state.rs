//! The state of a file or folder on disk, by which a change is noticed without reading it.

use std::fs::{self, Metadata};
use std::path::Path;

use serde::{Deserialize, Serialize};

const NANOSECONDS: i64 = 1_000_000_000;

/// The state of a file or folder. Writing a file changes its times, and replacing it changes the inode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    pub(super) is_folder: bool,
    /// The times of the last change of its contents, and of its inode, in nanoseconds since 1970.
    times: [i64; 2],
    /// Device, inode and bytes; where the system has no inodes, bytes alone.
    rest: Vec<u64>,
}

impl State {
    /// Returns the state of the file or folder that a path leads to; `None` if it leads to nothing.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|metadata| Self::from(&metadata))
    }

    /// Returns whether it was the same for so long before `seconds` since 1970 that a later change is
    /// sure to have given it other times: two changes within one tick of a file system's clock have
    /// the same time.
    pub(crate) fn rests_since(&self, seconds: u64) -> bool {
        /// The coarsest clock of a file system, that of FAT.
        const TICK_SECONDS: i64 = 2;
        let before = i64::try_from(seconds).unwrap_or(0).saturating_sub(TICK_SECONDS);
        self.times.iter().all(|time| *time < before.saturating_mul(NANOSECONDS))
    }
}

impl From<&Metadata> for State {
    fn from(metadata: &Metadata) -> Self {
        let is_folder = metadata.is_dir();
        #[cfg(unix)]
        let (times, rest) = {
            use std::os::unix::fs::MetadataExt;
            let time = |seconds: i64, rest: i64| seconds.saturating_mul(NANOSECONDS) + rest;
            let modified = time(metadata.mtime(), metadata.mtime_nsec());
            let changed = time(metadata.ctime(), metadata.ctime_nsec());
            ([modified, changed], vec![metadata.dev(), metadata.ino(), metadata.size()])
        };
        #[cfg(not(unix))]
        let (times, rest) = {
            let modified = metadata.modified().ok();
            let since = modified.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
            let nanoseconds = since.map_or(0, |since| since.as_nanos());
            ([i64::try_from(nanoseconds).unwrap_or(i64::MAX); 2], vec![metadata.len()])
        };
        Self { is_folder, times, rest }
    }
}
