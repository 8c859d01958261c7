//! The known hosts of the server: its files, read again when one of them changed.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use relay_machine::lock::lock;
use relay_ssh::known_hosts::{FileError, KnownHosts};
use thiserror::Error;

/// The files with known hosts.
#[derive(Debug)]
pub(super) struct Known {
    files: Vec<PathBuf>,
    read: Mutex<Option<Read>>,
}

/// The state of a file: inode, length, and time of change in nanoseconds.
type Stamp = (u64, u64, i64, i64);

#[derive(Debug)]
struct Read {
    stamps: Vec<Option<Stamp>>,
    hosts: Arc<KnownHosts>,
    /// How often the files were read.
    times: u64,
}

/// The files cannot be read, so no host can prove itself.
#[derive(Debug, Error)]
#[error("the known hosts of this server cannot be read: {0}")]
pub(crate) struct KnownError(#[from] FileError);

impl Known {
    pub(super) fn new(files: Vec<PathBuf>) -> Self {
        Self { files, read: Mutex::default() }
    }

    /// Returns the file that learns the keys of new hosts.
    pub(super) fn learning(&self) -> Option<&Path> {
        self.files.first().map(PathBuf::as_path)
    }

    /// Returns the hosts as the files say now, and a number that differs with each change of them.
    pub(super) fn current(&self) -> Result<(Arc<KnownHosts>, u64), KnownError> {
        let stamps: Vec<Option<Stamp>> = self.files.iter().map(|file| stamp(file)).collect();
        let mut read = lock(&self.read);
        if let Some(Read { hosts, times, .. }) = read.as_ref().filter(|read| read.stamps == stamps)
        {
            return Ok((hosts.clone(), *times));
        }
        let hosts = Arc::new(KnownHosts::of_files(self.files.iter().map(PathBuf::as_path))?);
        for warning in hosts.warnings() {
            tracing::warn!("{warning}");
        }
        let times = read.as_ref().map_or(0, |read| read.times + 1);
        *read = Some(Read { stamps, hosts: hosts.clone(), times });
        Ok((hosts, times))
    }
}

fn stamp(file: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(file).ok()?;
    Some((metadata.ino(), metadata.len(), metadata.mtime(), metadata.mtime_nsec()))
}
