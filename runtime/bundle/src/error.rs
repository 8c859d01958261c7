//! Errors of opening and reading a bundle. Each error names its remedy.

use thiserror::Error;

use crate::format::{FORMAT_MAJOR, HEADER_BYTES};

const DAMAGED: &str = "the file is damaged or was altered: fetch or build it again";

/// An error of opening bytes as a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file begins with other bytes than the magic.
    #[error("not a relay bundle: it does not begin with the bundle magic; `relay build` makes one")]
    NotABundle,
    /// The magic was altered by a transfer in text mode.
    #[error(
        "the bundle was altered by a transfer in text mode (line ends were changed): transfer it as binary"
    )]
    TextModeDamage,
    /// The file ends inside its header.
    #[error(
        "the bundle is truncated: {length} bytes are fewer than the {HEADER_BYTES} of a header; {DAMAGED}"
    )]
    TruncatedHeader {
        /// Bytes of the file.
        length: usize,
    },
    /// The format is older or newer than those of this reader.
    #[error("bundle format {found}, this relay reads {FORMAT_MAJOR}: {}", format_remedy(*found))]
    Format {
        /// The format's major number in the file.
        found: u16,
    },
    /// The bundle needs a feature that this reader lacks.
    #[error(
        "the bundle needs features {features:#x} that this relay does not have: use a newer relay-serve"
    )]
    Features {
        /// The unknown bits.
        features: u64,
    },
    /// A critical section is of a kind that this reader lacks.
    #[error(
        "the bundle needs section kind {kind}, which this relay does not know: use a newer relay-serve"
    )]
    UnknownCriticalSection {
        /// The kind's number.
        kind: u32,
    },
    /// The length in the header is over the limit of the format.
    #[error("the header claims {length} bytes, over the limit of {limit}; {DAMAGED}")]
    Oversize {
        /// The length in the header.
        length: u64,
        /// The limit of format 1.
        limit: u64,
    },
    /// The file is shorter than its header says.
    #[error("the bundle is truncated: it has {found} bytes of {expected}; {DAMAGED}")]
    Truncated {
        /// Bytes of the file.
        found: u64,
        /// The length in its header, in bytes.
        expected: u64,
    },
    /// Bytes follow the envelope.
    #[error("{extra} bytes follow the end of the bundle; {DAMAGED}")]
    Trailing {
        /// The number of these bytes.
        extra: u64,
    },
    /// The table has more rows than the format allows.
    #[error("the header claims {count} sections, over the limit of {limit}; {DAMAGED}")]
    TooManySections {
        /// The number in the header.
        count: u32,
        /// The limit of format 1.
        limit: u32,
    },
    /// The table is out of order, or a kind appears twice.
    #[error("section kind {kind} appears twice or out of order in the table; {DAMAGED}")]
    SectionOrder {
        /// The kind's number.
        kind: u32,
    },
    /// A section begins elsewhere than at a multiple of 64.
    #[error("section kind {kind} begins at {offset}, which is not a multiple of 64; {DAMAGED}")]
    Unaligned {
        /// The kind's number.
        kind: u32,
        /// The offset in the table.
        offset: u64,
    },
    /// A section begins before the preceding one ends.
    #[error(
        "section kind {kind} begins at {offset}, inside the preceding section (up to {end}); {DAMAGED}"
    )]
    Overlap {
        /// The kind's number.
        kind: u32,
        /// The offset in the table.
        offset: u64,
        /// The end of the preceding section.
        end: u64,
    },
    /// A section leaves a gap after the preceding one, or overlaps it, or extends beyond the end.
    #[error(
        "section kind {kind} is not where it must be (at {expected}, found {offset}); {DAMAGED}"
    )]
    Misplaced {
        /// The kind's number.
        kind: u32,
        /// The offset in the table.
        offset: u64,
        /// The required offset.
        expected: u64,
    },
    /// A section's length is not a whole number of its records, or exceeds the file.
    #[error("section kind {kind} has an impossible length of {length} bytes; {DAMAGED}")]
    SectionLength {
        /// The kind's number.
        kind: u32,
        /// The length in the table.
        length: u64,
    },
    /// A required section is missing.
    #[error("the bundle has no {kind} section; {DAMAGED}")]
    MissingSection {
        /// The kind's name.
        kind: &'static str,
    },
    /// Padding holds other bytes than zeros.
    #[error("padding at byte {offset} is not zero; {DAMAGED}")]
    Padding {
        /// Their offset.
        offset: u64,
    },
    /// Reserved fields hold other bytes than zeros.
    #[error("reserved bytes or flags of {what} are set; {DAMAGED}")]
    Reserved {
        /// The structure with these fields.
        what: &'static str,
    },
    /// The settings are over the limit of the format.
    #[error("the settings have {bytes} bytes, over the limit of {limit}; build the project again")]
    SettingsTooLarge {
        /// Their length in bytes.
        bytes: u64,
        /// The limit of format 1.
        limit: u64,
    },
    /// The contents of a settings section are invalid for this reader.
    #[error(
        "the {section} section is not valid: {reason}; build the project again, or use the relay-serve that matches it"
    )]
    Settings {
        /// The section's name.
        section: &'static str,
        /// The fault in it.
        reason: String,
    },
    /// A section read when the bundle is opened differs from its digest.
    #[error(transparent)]
    Corrupt(Corrupt),
    /// The length before the envelope is wrong.
    #[error("the signature envelope is missing or its length is wrong; {DAMAGED}")]
    Envelope,
}

fn format_remedy(found: u16) -> &'static str {
    if found > FORMAT_MAJOR {
        "use a newer relay-serve, or build with the relay that matches this server"
    } else {
        "build the project again with this relay"
    }
}

/// A damaged part of an opened bundle: a page differs from the signed one, or a record is invalid
/// or has a dangling reference.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Corrupt {
    /// A page of a section differs from its signed digest, or a reference leaves the section.
    #[error("the {section} section does not hold what was signed at byte {offset}; {DAMAGED}")]
    Page {
        /// The section's name.
        section: &'static str,
        /// The offset of the requested bytes in the section.
        offset: u64,
    },
    /// A record has an invalid value.
    #[error("a record of the {section} section has an impossible {what}; build the project again")]
    Record {
        /// The section's name.
        section: &'static str,
        /// The field.
        what: &'static str,
    },
}
