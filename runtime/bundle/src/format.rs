//! The numbers of format 1 that several modules use.

/// The first 16 bytes of every bundle. A transfer in text mode changes the line ends and the
/// control byte at its end.
pub const MAGIC: [u8; 16] = *b"relay bundle\r\n\x1a\n";
/// The format's major number; a reader refuses all others.
pub const FORMAT_MAJOR: u16 = 1;
/// The format's minor number; a reader accepts all of them.
pub const FORMAT_MINOR: u16 = 0;
/// Bytes of the header.
pub const HEADER_BYTES: usize = 64;
/// Bytes of one row of the section table.
pub const SECTION_BYTES: usize = 64;

/// The most bytes of a bundle: offsets inside sections have 32 bits.
pub(crate) const LENGTH_MAX: u64 = u32::MAX as u64;
/// The most bytes of an envelope.
pub(crate) const ENVELOPE_BYTES_MAX: usize = 256 * 1024;
/// The most bytes of all settings sections together: they are decoded when a bundle is opened.
pub(crate) const SETTINGS_BYTES_MAX: u64 = 1024 * 1024;
