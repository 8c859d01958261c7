//! Whether a file is a bundle or something else, by its name and its first bytes.

use std::path::Path;

use crate::disk;
use crate::failure::Failure;

/// The start of every bundle, without the bytes that a transfer in text mode would change.
pub(crate) const BEGINNING: &[u8] = b"relay bundle";

/// Returns whether the file at `path` is a bundle, by its name or its first bytes.
pub(crate) fn is_bundle(path: &Path) -> Result<bool, Failure> {
    if path.extension().is_some_and(|ending| ending == "relay") {
        return Ok(true);
    }
    if !path.is_file() {
        // Opening it reports the error.
        return Ok(false);
    }
    disk::begins_with(path, BEGINNING)
}
