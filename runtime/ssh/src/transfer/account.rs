//! The count of a transfer, its limits, and the reasons for which it ends.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::connection::ConnectError;

/// The deepest folder.
const DEPTH_MAX: usize = 64;

/// The most names of left-out entries that are listed.
const LEFT_OUT_MAX: usize = 100;

/// The limits of a transfer.
#[derive(Clone, Debug)]
pub struct TransferOptions {
    /// Whether a folder is copied with all that it holds. Otherwise a folder is an error.
    pub recursive: bool,
    /// The most files and folders.
    pub entries_max: u64,
    /// The most bytes.
    pub bytes_max: u64,
    /// The longest time.
    pub timeout: Duration,
}

/// A completed transfer.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Transferred {
    /// The files.
    pub files: u64,
    /// The folders, the uppermost included.
    pub folders: u64,
    /// The bytes of the files.
    pub bytes: u64,
    /// The paths of links, devices and the like that were left out; the first 100.
    pub left_out: Vec<String>,
    /// The number of entries that were left out.
    pub left_out_count: u64,
}

/// The reason why a transfer failed. Files that were renamed before stay.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The host is out of reach.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The host lacks SFTP.
    #[error("the host offers no SFTP: its sshd_config needs a line `Subsystem sftp internal-sftp`")]
    NoSftp,
    /// A file on this machine.
    #[error("{}: {source}", path.display())]
    Local {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file on the host. OpenSSH says only `Failure` where it lacks a code for the cause.
    #[error("{path} on the host: {step}: {reason}")]
    Remote {
        /// The file.
        path: String,
        /// The step that failed.
        step: &'static str,
        /// The text of the host.
        reason: String,
    },
    /// A name of other bytes than UTF-8, or one that leads out of its folder.
    #[error(
        "{name}: a name that is not UTF-8 or not the name of an entry; rename it or leave it out"
    )]
    Name {
        /// The name, made printable.
        name: String,
    },
    /// A folder where a file is expected, or the reverse.
    #[error("{path}: {reason}")]
    Kind {
        /// The path.
        path: String,
        /// The expectation.
        reason: &'static str,
    },
    /// A path on the host that means another one: rules have judged it as it is written.
    #[error("{path} on the host goes through a link or `..`: write {real}")]
    Link {
        /// The path.
        path: String,
        /// The path that it means.
        real: String,
    },
    /// More than the transfer may carry.
    #[error("more than {limit} {what}: raise the limit or copy a part")]
    Limit {
        /// The counted thing.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// The copy has another size than the file.
    #[error(
        "{path}: {copied} bytes were copied, the file has {size}: it changed meanwhile or a disk is full"
    )]
    Size {
        /// The file.
        path: String,
        /// The bytes that were copied.
        copied: u64,
        /// The size of the file.
        size: u64,
    },
    /// The transfer took too long.
    #[error("not complete after {} s", limit.as_secs())]
    Timeout {
        /// The limit.
        limit: Duration,
    },
    /// The caller stopped it.
    #[error("stopped")]
    Stopped,
    /// The connection was lost. The last file may have its final name.
    #[error("the connection was lost: the outcome for the last file is unknown")]
    Lost,
    /// The transfer failed, and its temporary file could not be removed in time.
    #[error("{cause}; `{temporary}` may be left on the host: remove it")]
    Left {
        /// Why the transfer failed.
        cause: Box<TransferError>,
        /// The temporary file.
        temporary: String,
    },
}

/// The count of one transfer.
pub(super) struct Account {
    done: Transferred,
    entries_max: u64,
    bytes_max: u64,
}

impl Account {
    pub(super) fn new(options: &TransferOptions) -> Self {
        let TransferOptions { recursive: _, entries_max, bytes_max, timeout: _ } = *options;
        Self { done: Transferred::default(), entries_max, bytes_max }
    }

    pub(super) fn file(&mut self) -> Result<(), TransferError> {
        self.done.files += 1;
        self.check_entries(0)
    }

    /// Counts a folder at a depth below the first.
    pub(super) fn folder(&mut self, depth: usize) -> Result<(), TransferError> {
        if depth > DEPTH_MAX {
            let limit = DEPTH_MAX as u64;
            return Err(TransferError::Limit { what: "levels of folders", limit });
        }
        self.done.folders += 1;
        self.check_entries(0)
    }

    pub(super) fn bytes(&mut self, count: usize) -> Result<(), TransferError> {
        self.done.bytes = self.done.bytes.saturating_add(count as u64);
        if self.done.bytes > self.bytes_max {
            return Err(TransferError::Limit { what: "bytes", limit: self.bytes_max });
        }
        Ok(())
    }

    /// Notes a link, a device and the like.
    pub(super) fn leave_out(&mut self, path: String) -> Result<(), TransferError> {
        self.done.left_out_count += 1;
        if self.done.left_out.len() < LEFT_OUT_MAX {
            self.done.left_out.push(path);
        }
        self.check_entries(0)
    }

    /// Returns the number of entries that are left.
    pub(super) fn room(&self) -> usize {
        let Transferred { files, folders, left_out_count, .. } = self.done;
        let left = self.entries_max.saturating_sub(files + folders + left_out_count);
        usize::try_from(left).unwrap_or(usize::MAX)
    }

    /// Checks the number of entries with `more` that are listed and wait.
    pub(super) fn check_entries(&self, more: usize) -> Result<(), TransferError> {
        let Transferred { files, folders, left_out_count, .. } = self.done;
        let entries = files.saturating_add(folders).saturating_add(left_out_count);
        if entries.saturating_add(more as u64) > self.entries_max {
            return Err(TransferError::Limit {
                what: "files and folders",
                limit: self.entries_max,
            });
        }
        Ok(())
    }

    pub(super) fn done(self) -> Transferred {
        self.done
    }
}

/// Returns an error of a file on this machine.
pub(super) fn local(path: &Path, source: impl Into<io::Error>) -> TransferError {
    TransferError::Local { path: path.to_owned(), source: source.into() }
}
