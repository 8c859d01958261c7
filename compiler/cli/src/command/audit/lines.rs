//! The lines of an audit file that may grow meanwhile.

use std::fs::{File, TryLockError};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::Failure;

/// The most bytes of a line; records are far shorter.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// The longest wait for a program that appends a record, and the interval of tries.
const LOCK_WAIT_MAX: Duration = Duration::from_secs(1);
const LOCK_AGAIN: Duration = Duration::from_millis(1);

/// A file that is being read, and the bytes of its last line so far.
pub(super) struct Lines {
    reader: BufReader<File>,
    inode: u64,
    part: Vec<u8>,
    /// Whether the last line so far is over the limit; its bytes are dropped.
    is_long: bool,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let failed = |error| Failure::file("read", path, &error);
        let file = File::open(path).map_err(failed)?;
        let inode = file.metadata().map_err(failed)?.ino();
        Ok(Self { reader: BufReader::new(file), inode, part: Vec::new(), is_long: false })
    }

    /// Returns the inode of the file that is being read.
    pub(super) fn inode(&self) -> u64 {
        self.inode
    }

    /// Returns the next complete line, with its line feed; `None` at the end of the file. A line over
    /// the limit is returned as a NUL.
    pub(super) fn next(&mut self, path: &Path) -> Result<Option<Vec<u8>>, Failure> {
        loop {
            let mut limited = self.reader.by_ref().take(LINE_BYTES_MAX);
            let read = limited
                .read_until(b'\n', &mut self.part)
                .map_err(|error| Failure::file("read", path, &error))?;
            let is_whole = self.part.ends_with(b"\n");
            self.is_long |= self.part.len() as u64 > LINE_BYTES_MAX;
            if self.is_long {
                self.part.clear();
            }
            if is_whole {
                let line = std::mem::take(&mut self.part);
                return Ok(Some(if std::mem::take(&mut self.is_long) {
                    b"\0\n".into()
                } else {
                    line
                }));
            }
            if read == 0 {
                return Ok(None);
            }
        }
    }

    /// Returns the rest of a line that a program may be writing: it is whole while no program writes.
    pub(super) fn next_locked(&mut self, path: &Path) -> Result<Option<Vec<u8>>, Failure> {
        let since = Instant::now();
        // A file system without locks gives it at once.
        while let Err(TryLockError::WouldBlock) = self.reader.get_ref().try_lock_shared() {
            if since.elapsed() >= LOCK_WAIT_MAX {
                break;
            }
            thread::sleep(LOCK_AGAIN);
        }
        let line = self.next(path);
        // Closing the file would free it too.
        _ = self.reader.get_ref().unlock();
        line
    }

    /// Returns whether the file ends with a line that has no line feed.
    pub(super) fn ends_within_a_line(&self) -> bool {
        self.is_long || !self.part.is_empty()
    }
}
