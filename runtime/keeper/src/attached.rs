//! Bytes that travel as a file in memory, since they are too many for a packet.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::OwnedFd;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;

use crate::job::BODY_BYTES_MAX;

/// Writes bytes to a file in memory and seals it.
pub(crate) fn write(bytes: &[u8]) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(memfd_create("relay-job", flags)?);
    file.write_all(bytes)?;
    file.rewind()?;
    let seals = SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    fcntl_add_seals(&file, seals)?;
    Ok(file.into())
}

/// Reads so many bytes of a file.
pub(crate) fn read(file: OwnedFd, length: u32) -> Result<Vec<u8>, Errno> {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > BODY_BYTES_MAX {
        return Err(Errno::TOOBIG);
    }
    let mut bytes = vec![0; length];
    File::from(file).read_exact(&mut bytes).map_err(|_| Errno::IO)?;
    Ok(bytes)
}
