//! Opening a file that the operator names, at once.
//!
//! Opening a pipe waits until someone writes to it, and reading a device may never end. So a path
//! to anything but a regular file is an error at once, which names the kind of the file.

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, Read as _, Seek as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

/// Opens the regular file at `path` for reading, through links.
///
/// # Errors
///
/// It is missing or unreadable, or another kind of file.
pub fn open(path: &Path) -> io::Result<File> {
    // Some devices act on being opened, so the path is checked before as well as after.
    check(&fs::metadata(path)?)?;
    let file = OpenOptions::new().read(true).custom_flags(without_waiting()).open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

/// Copies a file from its beginning, wherever an earlier read of it has ended.
///
/// # Errors
///
/// A file fails, or the source has more than `bytes_max` bytes, even if it grew after its size was checked.
pub fn copy_whole(mut source: &File, to: &mut File, bytes_max: u64) -> io::Result<()> {
    source.rewind()?;
    // From file to file the kernel copies, in a few calls.
    if io::copy(&mut source.take(bytes_max.saturating_add(1)), to)? > bytes_max {
        return Err(io::Error::other(format!("it grew over the limit of {bytes_max} bytes")));
    }
    Ok(())
}

/// Returns the flags with which `open` returns at once, as for a regular file it does anyway.
pub fn without_waiting() -> i32 {
    (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed()
}

/// Returns an error unless `metadata` is that of a regular file.
///
/// # Errors
///
/// It is that of a folder, a pipe, a socket or a device.
pub fn check(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let kind = kind(metadata.file_type());
    Err(io::Error::other(format!("it is {kind}: name a regular file")))
}

fn kind(found: FileType) -> &'static str {
    if found.is_dir() {
        "a folder"
    } else if found.is_fifo() {
        "a pipe"
    } else if found.is_socket() {
        "a socket"
    } else if found.is_char_device() || found.is_block_device() {
        "a device"
    } else {
        "not a regular file"
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_copy_is_whole_after_one_that_failed() {
        let mut source = tempfile::tempfile().expect("a file");
        source.write_all(b"relay bundle").expect("it is written");
        let copy = |bytes_max| {
            let mut copy = tempfile::tempfile().expect("a file");
            copy_whole(&source, &mut copy, bytes_max)?;
            copy.rewind()?;
            let mut text = String::new();
            copy.read_to_string(&mut text)?;
            io::Result::Ok(text)
        };
        let error = copy(5).expect_err("it is longer").to_string();
        assert_eq!(error, "it grew over the limit of 5 bytes");
        // As on a full disk, the next copy is another one of the same file.
        assert_eq!(copy(12).expect("it fits"), "relay bundle");
    }
}
