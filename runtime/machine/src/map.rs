//! Bytes of a bundle in memory. The one module that holds `unsafe`.
//!
//! A map changes when its file does, and a bundle must stay the same between its check and its use.
//! So only two kinds of file are mapped: a sealed memory file, which is immutable, and a large
//! private copy, which only this user can change. A process that shortens such a copy ends the
//! servers that use it (SIGBUS), as it could with a signal; the next one makes another copy.

#![expect(unsafe_code, reason = "memory maps; each has a SAFETY comment")]

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use memmap2::Mmap;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use crate::file::regular_file;

/// The bytes of an unchanging file.
#[derive(Debug)]
pub struct Mapped(Bytes);

#[derive(Debug)]
enum Bytes {
    Map(Mmap),
    Read(Vec<u8>),
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self(Bytes::Map(map)) => map,
            Self(Bytes::Read(bytes)) => bytes,
        }
    }
}

/// The most bytes of a private copy that a server reads rather than maps. Reading costs a millisecond,
/// and makes the server independent of later changes to the file. A larger copy is mapped, so that
/// the start is fast for every size, and servers share its memory.
pub const READ_BYTES_MAX: u64 = 2 << 20;

/// Copies the contents of `source` into a sealed memory file, and maps that.
///
/// A source of more than `bytes_max` is an error, even if it grew after its size was checked.
pub fn map_sealed_copy(source: &File, bytes_max: u64) -> io::Result<Mapped> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut copy = File::from(memfd_create("relay-bundle", flags)?);
    regular_file::copy_whole(source, &mut copy, bytes_max)?;
    let seals = SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    fcntl_add_seals(&copy, seals)?;
    // SAFETY: the kernel refuses every later change of content or length: the file is sealed
    // against writing, shrinking, growing and unsealing.
    unsafe { Mmap::map(&copy) }.map(|map| Mapped(Bytes::Map(map)))
}

/// Reads a file private to this user and read-only even to them, or maps it if it has more than
/// `read_bytes_max` bytes.
pub fn map_private(file: &File, read_bytes_max: u64) -> io::Result<Mapped> {
    let metadata = file.metadata()?;
    let own = metadata.uid() == rustix::process::geteuid().as_raw();
    if !metadata.is_file() || !own || metadata.mode() & 0o222 != 0 {
        return Err(io::Error::other("it is not a read-only file of this user"));
    }
    if metadata.len() <= read_bytes_max {
        let mut bytes = vec![0; usize::try_from(metadata.len()).unwrap_or(0)];
        file.read_exact_at(&mut bytes, 0)?;
        return Ok(Mapped(Bytes::Read(bytes)));
    }
    // SAFETY: the file belongs to this user and its mode allows no writing, so only a process of
    // this user that first changes the mode could alter it, and such a process could also write
    // into this one's memory. `state` keeps these files in a folder of mode 0700 and never writes
    // to one after giving it its mode.
    unsafe { Mmap::map(file) }.map(|map| Mapped(Bytes::Map(map)))
}
