//! A file that one program at a time appends to.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// The longest wait for another program that appends records.
const LOCK_WAIT_MAX: Duration = Duration::from_secs(1);
/// The interval of tries.
const LOCK_AGAIN: Duration = Duration::from_micros(200);

/// A lock of a file, free again when it is dropped. Programs wait for it, threads of this one too.
#[derive(Debug)]
pub(super) struct Locked {
    file: Arc<File>,
    /// Whether the file system has locks.
    is_alone: bool,
}

impl Locked {
    /// Waits for the lock of a file, a second at most.
    pub(super) fn of(file: &Arc<File>) -> io::Result<Self> {
        let mut since = None;
        loop {
            match flock(file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self { file: file.clone(), is_alone: true }),
                Err(Errno::WOULDBLOCK | Errno::INTR)
                    if since.get_or_insert_with(Instant::now).elapsed() < LOCK_WAIT_MAX =>
                {
                    thread::sleep(LOCK_AGAIN);
                }
                Err(Errno::WOULDBLOCK) => {
                    return Err(io::Error::other("another program held it for a second"));
                }
                // Some file systems lack locks: records are then appended all the same.
                Err(Errno::NOSYS | Errno::OPNOTSUPP) => {
                    return Ok(Self { file: file.clone(), is_alone: false });
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Returns whether this program alone appends now; false on a file system that lacks locks.
    pub(super) fn is_alone(&self) -> bool {
        self.is_alone
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Closing the file would free it too.
        _ = flock(&self.file, FlockOperation::Unlock);
    }
}
