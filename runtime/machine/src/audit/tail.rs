//! The end of an audit file: the place in the chain from which the next record goes on.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use relay_engine::audit_chain::{self, Link};

/// The bytes at the end of a file in which its last record is searched, at first and at most. Records
/// are far shorter.
const TAIL_BYTES: u64 = 16 << 10;
const TAIL_BYTES_MAX: u64 = 4 << 20;
/// The growth of the searched part.
const GROWTH: u64 = 16;

/// The end of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tail {
    /// The last whole record.
    pub(super) link: Option<Link>,
    /// Whether the file ends with a line feed, as an empty one also counts.
    pub(super) ends_a_line: bool,
}

/// Reads the end of a file of this length.
pub(super) fn of(file: &File, length: u64) -> io::Result<Tail> {
    let mut wanted = TAIL_BYTES;
    loop {
        let taken = wanted.min(length);
        let mut bytes = vec![0; usize::try_from(taken).unwrap_or(0)];
        file.read_exact_at(&mut bytes, length - taken)?;
        let tail = of_bytes(&bytes);
        if tail.link.is_some() || taken == length || wanted >= TAIL_BYTES_MAX {
            return Ok(tail);
        }
        wanted = wanted.saturating_mul(GROWTH);
    }
}

/// Reads the end of a text that ends where its file does.
pub(super) fn of_bytes(bytes: &[u8]) -> Tail {
    let ends_a_line = bytes.last().is_none_or(|byte| *byte == b'\n');
    let mut lines = bytes.rsplit(|byte| *byte == b'\n').filter_map(|it| str::from_utf8(it).ok());
    let link = lines.find_map(|line| audit_chain::read(line).ok()).map(|record| record.link);
    Tail { link, ends_a_line }
}
