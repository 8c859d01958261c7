//! The reason why facts do not fit a table.

use thiserror::Error;

/// The knowledge exceeds the limits of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the facts do not fit a table: {what}")]
pub struct EncodeError {
    /// The kind of items with too many entries.
    pub what: &'static str,
}

pub(super) const TOO_MANY: EncodeError = EncodeError { what: "there are too many" };

/// Returns a number of items as a table counts them.
pub(super) fn size(length: usize) -> Result<u32, EncodeError> {
    u32::try_from(length).map_err(|_| TOO_MANY)
}
