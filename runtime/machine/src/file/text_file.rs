//! Reading a small file that the operator names: a regular file, at once, within a limit.

use std::io::{self, Read as _};
use std::path::Path;

use super::regular_file;

/// The most bytes of a configuration, a trust file, a key set, or a certificate with its chain.
const BYTES_MAX: u64 = 1 << 20;

/// Reads the text of the file at `path`.
///
/// # Errors
///
/// It is missing or unreadable, another kind of file, too large or invalid UTF-8.
pub fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    regular_file::open(path)?.take(BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > BYTES_MAX {
        return Err(io::Error::other(format!("it has over {BYTES_MAX} bytes")));
    }
    Ok(text)
}
