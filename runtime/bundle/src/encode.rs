//! Contents -> bytes. The same contents give the same bytes on any machine.

use thiserror::Error;

use crate::contents::Contents;
use crate::digest;
use crate::format::{HEADER_BYTES, LENGTH_MAX, SECTION_BYTES, SETTINGS_BYTES_MAX};
use crate::header;
use crate::section::Kind;
use crate::writer::Writer;

/// An error of writing contents as a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The bundle would be over the limit of the format.
    #[error("the bundle would have {length} bytes, over the limit of {limit}")]
    TooLarge {
        /// Its length in bytes, as far as counted before the limit.
        length: u64,
        /// The limit of format 1.
        limit: u64,
    },
    /// The settings would be over the limit of the format.
    #[error("the settings would have {bytes} bytes, over the limit of {limit}")]
    SettingsTooLarge {
        /// Their length in bytes.
        bytes: u64,
        /// The limit of format 1.
        limit: u64,
    },
    /// A value has no JSON form. Contents never cause this.
    #[error("the settings cannot be written: {reason}")]
    Settings {
        /// The error of serde.
        reason: String,
    },
}

/// Writes `contents` as an unsigned bundle.
///
/// # Errors
///
/// The bundle exceeds a limit of format 1.
pub fn encode(contents: &Contents) -> Result<Vec<u8>, EncodeError> {
    let mut out = Writer::new();
    contents.write(&mut out)?;
    assemble(contents.epoch, &out.finish())
}

/// Joins header, table and sections, each section with its digest tree.
fn assemble(epoch: u64, sections: &[(Kind, Vec<u8>)]) -> Result<Vec<u8>, EncodeError> {
    let settings = sections.iter().filter(|(kind, _)| kind.is_settings());
    let bytes: u64 = settings.map(|(_, bytes)| bytes.len() as u64).sum();
    if bytes > SETTINGS_BYTES_MAX {
        return Err(EncodeError::SettingsTooLarge { bytes, limit: SETTINGS_BYTES_MAX });
    }
    let front = (HEADER_BYTES + sections.len() * SECTION_BYTES).next_multiple_of(digest::ALIGN);
    let mut length = front as u64;
    for (_, bytes) in sections {
        length += digest::stored_length(bytes.len()).unwrap_or(usize::MAX) as u64;
        if length > LENGTH_MAX {
            return Err(EncodeError::TooLarge { length, limit: LENGTH_MAX });
        }
    }
    let mut file = vec![0; front];
    file.reserve_exact(usize::try_from(length).unwrap_or(0));
    let mut rows = Vec::with_capacity(sections.len());
    for (kind, bytes) in sections {
        let offset = file.len() as u64;
        file.extend_from_slice(bytes);
        file.resize(file.len().next_multiple_of(digest::ALIGN), 0);
        let digest = digest::write_tree(bytes, &mut file);
        rows.push(header::row(*kind, offset, bytes.len() as u64, digest));
    }
    header::write(epoch, &rows, &mut file);
    // The envelope is empty: signing comes later.
    file.extend_from_slice(&0u64.to_le_bytes());
    Ok(file)
}

impl From<serde_json::Error> for EncodeError {
    fn from(error: serde_json::Error) -> Self {
        Self::Settings { reason: error.to_string() }
    }
}
