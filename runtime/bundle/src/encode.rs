//! Contents -> bytes. The same contents give the same bytes on any machine.

use std::mem;

use thiserror::Error;

use crate::contents::Contents;
use crate::digest;
use crate::format::{HEADER_BYTES, LENGTH_MAX, SECTION_BYTES, SETTINGS_BYTES_MAX};
use crate::header;
use crate::section::Kind;
use crate::writer::Writer;

/// The length of an envelope without signatures.
const ENVELOPE_BYTES: usize = size_of::<u64>();

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
    assemble(contents.epoch, out.finish())
}

/// A section and its place in the file.
struct Placed {
    kind: Kind,
    bytes: Vec<u8>,
    offset: usize,
    length: usize,
}

/// Returns each section with its place in the file, and the length of the file.
fn placed(sections: Vec<(Kind, Vec<u8>)>) -> Result<(Vec<Placed>, usize), EncodeError> {
    let front = (HEADER_BYTES + sections.len() * SECTION_BYTES).next_multiple_of(digest::ALIGN);
    let mut end = front;
    let mut placed = Vec::with_capacity(sections.len());
    for (kind, bytes) in sections {
        let (offset, length) = (end, bytes.len());
        end = end.saturating_add(digest::stored_length(length).unwrap_or(usize::MAX));
        if end as u64 > LENGTH_MAX {
            return Err(EncodeError::TooLarge { length: end as u64, limit: LENGTH_MAX });
        }
        placed.push(Placed { kind, bytes, offset, length });
    }
    Ok((placed, end))
}

/// Joins header, table and sections, each section with its digest tree.
///
/// The largest section keeps its memory, which becomes that of the file: most of a bundle is its texts, and
/// moving them takes less time than new memory.
fn assemble(epoch: u64, sections: Vec<(Kind, Vec<u8>)>) -> Result<Vec<u8>, EncodeError> {
    let settings = sections.iter().filter(|(kind, _)| kind.is_settings());
    let bytes: u64 = settings.map(|(_, bytes)| bytes.len() as u64).sum();
    if bytes > SETTINGS_BYTES_MAX {
        return Err(EncodeError::SettingsTooLarge { bytes, limit: SETTINGS_BYTES_MAX });
    }
    let (mut sections, length) = placed(sections)?;
    let mut file = Vec::new();
    let mut moved = 0;
    if let Some(largest) = sections.iter_mut().max_by_key(|section| section.length) {
        file = mem::take(&mut largest.bytes);
        moved = largest.offset;
    }
    let bytes = file.len();
    file.reserve_exact((length + ENVELOPE_BYTES).saturating_sub(bytes));
    file.resize(length, 0);
    file.copy_within(..bytes, moved);
    if let Some(before) = file.get_mut(..moved) {
        before.fill(0);
    }
    let mut rows = Vec::with_capacity(sections.len());
    for Placed { kind, bytes, offset, length } in sections {
        put(&mut file, offset, &bytes);
        let data = file.get(offset..offset + length).unwrap_or_default();
        let mut tree = Vec::new();
        let digest = digest::write_tree(data, &mut tree);
        put(&mut file, (offset + length).next_multiple_of(digest::ALIGN), &tree);
        rows.push(header::row(kind, offset as u64, length as u64, digest));
    }
    header::write(epoch, &rows, &mut file);
    // The envelope is empty: signing comes later.
    file.extend_from_slice(&[0; ENVELOPE_BYTES]);
    Ok(file)
}

/// Writes bytes into their place in the file.
fn put(file: &mut [u8], offset: usize, bytes: &[u8]) {
    if let Some(place) = file.get_mut(offset..offset + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

impl From<serde_json::Error> for EncodeError {
    fn from(error: serde_json::Error) -> Self {
        Self::Settings { reason: error.to_string() }
    }
}
