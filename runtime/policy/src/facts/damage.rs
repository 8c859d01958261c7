//! What is wrong with a table.

use thiserror::Error;

/// The table was altered or cut, or written by another version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the table of facts is damaged: {0}")]
pub struct Damaged(pub &'static str);
