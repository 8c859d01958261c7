//! Header and section table: the first part that is read when a bundle is opened.
//!
//! The layout is rigid: sections come in the order of their kinds, each right after the digest tree
//! of the preceding one, so every offset follows from the lengths. A bundle with any other offset
//! is refused.

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::digest::{self, Digest, Tree};
use crate::error::OpenError;
use crate::format::{
    ENVELOPE_BYTES_MAX, FORMAT_MAJOR, FORMAT_MINOR, HEADER_BYTES, LENGTH_MAX, MAGIC, SECTION_BYTES,
};
use crate::section::{Kind, SectionInfo};

const SECTIONS_MAX: u32 = 256;
/// The flag of a section that a reader must know.
const FLAG_CRITICAL: u32 = 1;

/// The first 64 bytes of a bundle.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Header {
    magic: [u8; 16],
    format_major: U16,
    format_minor: U16,
    section_count: U32,
    /// The length of header, table and sections; the envelope begins here. Only these bytes count,
    /// so adding a signature keeps the signed bytes.
    content_length: U64,
    epoch: U64,
    /// Bits of critical features; all are zero in format 1.0.
    features: U64,
    reserved: [u8; 16],
}

/// One row of the section table.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Row {
    kind: U32,
    flags: U32,
    offset: U64,
    length: U64,
    digest: [u8; 32],
    reserved: U64,
}

const _: () = assert!(size_of::<Header>() == HEADER_BYTES && size_of::<Row>() == SECTION_BYTES);

/// The values of header and table, checked against the file's length.
pub(crate) struct Front {
    pub(crate) format_minor: u16,
    pub(crate) epoch: u64,
    /// SHA-256 of header and table: the signed digest that identifies the bundle.
    pub(crate) digest: Digest,
    pub(crate) sections: Vec<SectionInfo>,
    /// One tree for each of `sections`.
    pub(crate) trees: Vec<Tree>,
    /// The offset of the envelope's length.
    pub(crate) content_length: usize,
}

/// The layout of a bundle file, from its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline {
    /// The length of header and table, which the digest covers.
    pub front_bytes: usize,
    /// The length of the covered bytes; the envelope follows them.
    pub content_bytes: u64,
}

impl Outline {
    /// Checks the length of a file against its layout, before the rest of the file is read.
    ///
    /// # Errors
    ///
    /// The file ends inside its content, or the rest is longer than the largest envelope.
    pub fn check_length(&self, file_bytes: u64) -> Result<(), OpenError> {
        let content = self.content_bytes.max(self.front_bytes as u64);
        if file_bytes < content {
            return Err(OpenError::Truncated { found: file_bytes, expected: content });
        }
        let most = content + (size_of::<u64>() + ENVELOPE_BYTES_MAX) as u64;
        match file_bytes.checked_sub(most) {
            None | Some(0) => Ok(()),
            Some(extra) => Err(OpenError::Trailing { extra }),
        }
    }
}

/// Reads the layout of a file from its first [`HEADER_BYTES`].
///
/// It identifies a bundle before the rest of its file is read.
///
/// # Errors
///
/// The bytes differ from the header of a bundle of this format; see [`OpenError`].
pub fn outline(start: &[u8]) -> Result<Outline, OpenError> {
    let (header, _) = header(start)?;
    Ok(Outline {
        front_bytes: HEADER_BYTES + header.section_count.get() as usize * SECTION_BYTES,
        content_bytes: header.content_length.get(),
    })
}

/// Reads and checks header and table of `file`.
///
/// # Errors
///
/// The header or the table is wrong: see [`OpenError`].
pub(crate) fn read(file: &[u8]) -> Result<Front, OpenError> {
    let (header, rest) = header(file)?;
    let Header {
        magic: _,
        format_major: _,
        format_minor,
        section_count,
        content_length,
        epoch,
        features: _,
        reserved: _,
    } = *header;
    let found = file.len() as u64;
    if content_length.get() > found {
        return Err(OpenError::Truncated { found, expected: content_length.get() });
    }
    let count = section_count.get();
    let content_length = usize::try_from(content_length.get()).unwrap_or(usize::MAX);
    let table_bytes = count as usize * SECTION_BYTES;
    let Ok((table, _)) = <[Row]>::ref_from_prefix_with_elems(rest, count as usize) else {
        return Err(OpenError::Truncated { found, expected: (HEADER_BYTES + table_bytes) as u64 });
    };
    let signed = file.get(..HEADER_BYTES + table_bytes).unwrap_or_default();

    let mut sections = Vec::with_capacity(table.len());
    let mut trees = Vec::with_capacity(table.len());
    let mut end = signed.len();
    for row in table {
        let info = section(row, sections.last(), end, content_length)?;
        let begin = digest::align(end).unwrap_or(usize::MAX);
        zero(file, end, begin)?;
        // The checks of `section` keep `length` within the file.
        let length = usize::try_from(info.length).unwrap_or(usize::MAX);
        end = begin;
        for (level, length) in digest::level_lengths(length).into_iter().enumerate() {
            let begin = digest::align(end).unwrap_or(usize::MAX);
            if level > 0 {
                zero(file, end, begin)?;
            }
            end = begin.saturating_add(length);
        }
        trees.push(Tree::new(info.digest, begin, length));
        sections.push(info);
    }
    let padded = digest::align(end).unwrap_or(usize::MAX);
    let (padded, length) = (padded as u64, content_length as u64);
    if padded > length {
        return Err(OpenError::Truncated { found: length, expected: padded });
    }
    if padded < length {
        return Err(OpenError::Trailing { extra: length - padded });
    }
    zero(file, end, content_length)?;
    Ok(Front {
        format_minor: format_minor.get(),
        epoch: epoch.get(),
        digest: Digest::of(signed),
        sections,
        trees,
        content_length,
    })
}

/// Splits `file` after its header, and does all checks that need only the header.
fn header(file: &[u8]) -> Result<(&Header, &[u8]), OpenError> {
    let (header, rest) = match Header::ref_from_prefix(file) {
        Ok(parts) if parts.0.magic == MAGIC => parts,
        Ok(_) => return Err(wrong_magic(file)),
        Err(_) if MAGIC.starts_with(file.get(..MAGIC.len()).unwrap_or(file)) => {
            return Err(OpenError::TruncatedHeader { length: file.len() });
        }
        Err(_) => return Err(wrong_magic(file)),
    };
    if header.format_major.get() != FORMAT_MAJOR {
        return Err(OpenError::Format { found: header.format_major.get() });
    }
    if header.features.get() != 0 {
        return Err(OpenError::Features { features: header.features.get() });
    }
    if header.reserved != [0; 16] {
        return Err(OpenError::Reserved { what: "the header" });
    }
    let length = header.content_length.get();
    if length > LENGTH_MAX {
        return Err(OpenError::Oversize { length, limit: LENGTH_MAX });
    }
    let count = header.section_count.get();
    if count > SECTIONS_MAX {
        return Err(OpenError::TooManySections { count, limit: SECTIONS_MAX });
    }
    Ok((header, rest))
}

/// Returns the row of a section.
pub(crate) fn row(kind: Kind, offset: u64, length: u64, Digest(digest): Digest) -> Row {
    Row {
        kind: kind.number().into(),
        flags: if kind.is_critical() { FLAG_CRITICAL } else { 0 }.into(),
        offset: offset.into(),
        length: length.into(),
        digest,
        reserved: 0.into(),
    }
}

/// Writes header and table over the start of `file`, which has room for them.
pub(crate) fn write(epoch: u64, rows: &[Row], file: &mut [u8]) {
    let header = Header {
        magic: MAGIC,
        format_major: FORMAT_MAJOR.into(),
        format_minor: FORMAT_MINOR.into(),
        section_count: u32::try_from(rows.len()).unwrap_or(u32::MAX).into(),
        content_length: (file.len() as u64).into(),
        epoch: epoch.into(),
        features: 0.into(),
        reserved: [0; 16],
    };
    for (byte, value) in file.iter_mut().zip(header.as_bytes().iter().chain(rows.as_bytes())) {
        *byte = *value;
    }
}

fn section(
    row: &Row,
    before: Option<&SectionInfo>,
    end: usize,
    content_length: usize,
) -> Result<SectionInfo, OpenError> {
    let Row { kind, flags, offset, length, digest, reserved } = *row;
    let (number, offset, length) = (kind.get(), offset.get(), length.get());
    if before.is_some_and(|before| before.number >= number) {
        return Err(OpenError::SectionOrder { kind: number });
    }
    let critical = flags.get() & FLAG_CRITICAL != 0;
    let kind = Kind::from_number(number);
    if kind.is_none() && critical {
        return Err(OpenError::UnknownCriticalSection { kind: number });
    }
    if flags.get() & !FLAG_CRITICAL != 0 || reserved.get() != 0 {
        return Err(OpenError::Reserved { what: "the section table" });
    }
    if offset % digest::ALIGN as u64 != 0 {
        return Err(OpenError::Unaligned { kind: number, offset });
    }
    let expected = digest::align(end).unwrap_or(usize::MAX) as u64;
    if offset < expected {
        return Err(OpenError::Overlap { kind: number, offset, end: end as u64 });
    }
    if offset > expected {
        return Err(OpenError::Misplaced { kind: number, offset, expected });
    }
    let impossible = OpenError::SectionLength { kind: number, length };
    if length > LENGTH_MAX {
        return Err(impossible);
    }
    let stored = usize::try_from(length).ok().and_then(digest::stored_length);
    let stored = stored.ok_or(impossible.clone())?;
    let last = usize::try_from(offset).ok().and_then(|offset| offset.checked_add(stored));
    if last.is_none_or(|last| last > content_length) {
        return Err(impossible);
    }
    if kind.is_some_and(|kind| length % kind.row_bytes() as u64 != 0) {
        return Err(impossible);
    }
    Ok(SectionInfo { number, kind, critical, offset, length, digest: Digest(digest) })
}

fn zero(file: &[u8], start: usize, end: usize) -> Result<(), OpenError> {
    let padding = file.get(start..end).unwrap_or_default();
    match padding.iter().position(|byte| *byte != 0) {
        Some(at) => Err(OpenError::Padding { offset: (start + at) as u64 }),
        None => Ok(()),
    }
}

fn wrong_magic(file: &[u8]) -> OpenError {
    // The magic after a transfer in text mode: CRLF to LF, each LF to CRLF, only lone LF to CRLF.
    let damaged: [&[u8]; 3] =
        [b"relay bundle\n", b"relay bundle\r\r\n", b"relay bundle\r\n\x1a\r\n"];
    if damaged.iter().any(|start| file.starts_with(start)) {
        OpenError::TextModeDamage
    } else {
        OpenError::NotABundle
    }
}
