//! The marks that redaction writes, and its limits.

/// The mark that replaces a secret in a record.
pub const MARKER: &str = "[redacted]";

/// The last character of a text that was cut.
pub(super) const CUT: char = '…';

/// The most characters of a text that are scanned: the 500 of a record, and 16 KiB more, since a
/// secret in the scanned part becomes shorter. A longer text is cut here.
pub const SCAN_CHARS_MAX: usize = 500 + 16 * 1024;

/// The most scans of one text. A scan leaves the result of the scan before it as it is, save in odd
/// cases; a text that still changes after so many is hidden from the change on.
pub(super) const SCANS_MAX: usize = 8;

/// The most bytes of a name that are read: the last ones, which say its kind.
pub(super) const NAME_BYTES_MAX: usize = 128;

/// The most bytes of a value that may be a plain word or a reference.
pub(super) const PLAIN_BYTES_MAX: usize = 64;

/// The most quotes and substitutions within one another that are followed.
pub(super) const NESTING_MAX: usize = 16;

/// The most here-documents of one line that are followed.
pub(super) const HERE_DOCS_MAX: usize = 8;

/// The most bytes between a key, such as `name: DB_PASSWORD`, and the `value: …` that belongs to it.
pub(super) const PAIR_BYTES_MAX: usize = 256;

/// The most objects and lists within one another; deeper ones are replaced as a whole.
pub(super) const JSON_DEPTH_MAX: usize = 64;

/// The most JSON texts within one another that are read as JSON.
pub(super) const JSON_TEXTS_MAX: usize = 3;

/// The most backslashes before a quote; more of them are characters of a value.
pub(super) const SLASHES_MAX: usize = 15;
