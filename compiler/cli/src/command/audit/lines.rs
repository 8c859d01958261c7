//! The lines of an audit file that may grow meanwhile.

use std::fs::{File, TryLockError};
use std::io::{self, BufRead as _, BufReader, Read};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use flate2::read::MultiGzDecoder;

use crate::failure::Failure;

/// The most bytes of a line; records are far shorter.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// The longest wait for a program that appends a record, and the interval of tries.
const LOCK_WAIT_MAX: Duration = Duration::from_secs(1);
const LOCK_AGAIN: Duration = Duration::from_millis(1);

/// The end of the name of a compressed file.
const GZIP: &str = "gz";

/// The text of a file.
enum Source {
    Plain(File),
    Packed(Box<MultiGzDecoder<BufReader<File>>>),
}

impl Read for Source {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.read(bytes),
            Self::Packed(file) => file.read(bytes),
        }
    }
}

impl Source {
    fn file(&self) -> &File {
        match self {
            Self::Plain(file) => file,
            Self::Packed(file) => file.get_ref().get_ref(),
        }
    }
}

/// A file that is being read, and the bytes of its last line so far.
pub(super) struct Lines {
    reader: BufReader<Source>,
    inode: u64,
    /// The bytes that were read.
    taken: u64,
    part: Vec<u8>,
    /// Whether the last line so far is over the limit; its bytes are dropped.
    is_long: bool,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let failed = |error| Failure::file("read", path, &error);
        let file = File::open(path).map_err(failed)?;
        let inode = file.metadata().map_err(failed)?.ino();
        let source = match path.extension().is_some_and(|end| end == GZIP) {
            true => Source::Packed(Box::new(MultiGzDecoder::new(BufReader::new(file)))),
            false => Source::Plain(file),
        };
        let reader = BufReader::new(source);
        Ok(Self { reader, inode, taken: 0, part: Vec::new(), is_long: false })
    }

    /// Returns the inode of the file that is being read.
    pub(super) fn inode(&self) -> u64 {
        self.inode
    }

    /// Returns the bytes that were read; a file that is shorter was emptied.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Returns the next complete line, with its line feed; `None` at the end of the file. A line over
    /// the limit is returned as a NUL.
    pub(super) fn next(&mut self, path: &Path) -> Result<Option<Vec<u8>>, Failure> {
        loop {
            let mut limited = self.reader.by_ref().take(LINE_BYTES_MAX);
            let read = limited
                .read_until(b'\n', &mut self.part)
                .map_err(|error| Failure::file("read", path, &error))?;
            self.taken += read as u64;
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
        while let Err(TryLockError::WouldBlock) = self.reader.get_ref().file().try_lock_shared() {
            if since.elapsed() >= LOCK_WAIT_MAX {
                break;
            }
            thread::sleep(LOCK_AGAIN);
        }
        let line = self.next(path);
        // Closing the file would free it too.
        _ = self.reader.get_ref().file().unlock();
        line
    }

    /// Returns whether the file ends with a line that has no line feed.
    pub(super) fn ends_within_a_line(&self) -> bool {
        self.is_long || !self.part.is_empty()
    }
}
