//! Limits of a configuration with all files that it includes.

/// The most levels of `Include`, as in OpenSSH.
pub const INCLUDE_DEPTH_MAX: usize = 16;

/// The most files, each counted as often as it is included.
pub const FILES_MAX: usize = 256;

/// The most bytes of all files.
pub const BYTES_MAX: usize = 1 << 20;

/// The most lines of all files.
pub const LINES_MAX: usize = 20_000;

/// The most bytes of a line. Patterns, names and messages are shorter.
pub const LINE_BYTES_MAX: usize = 8 << 10;

/// The most bytes of all `IgnoreUnknown` lists.
pub const IGNORE_UNKNOWN_BYTES_MAX: usize = 4 << 10;

/// The most words after a keyword.
pub const ARGUMENTS_MAX: usize = 1_000;

/// The most hosts of a `ProxyJump`.
pub const JUMPS_MAX: usize = 8;

/// The most `IdentityFile` or `CertificateFile` of a host, as in OpenSSH.
pub const IDENTITIES_MAX: usize = 100;

/// The most entries of a folder in which an `Include` has a pattern.
pub const FOLDER_ENTRIES_MAX: usize = 10_000;
