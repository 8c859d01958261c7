//! Sizes: exact bytes, and an estimate of tokens.

use schemars::JsonSchema;
use serde::Serialize;

/// The size of a text for an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Size {
    /// The exact number of bytes.
    pub(crate) bytes: usize,
    /// An estimate of the number of tokens: a quarter of the bytes. Models differ.
    pub(crate) tokens_estimated: usize,
}

impl Size {
    /// Returns the size for a number of bytes.
    pub(crate) fn of(bytes: usize) -> Self {
        const BYTES_PER_TOKEN: usize = 4;
        Self { bytes, tokens_estimated: bytes.div_ceil(BYTES_PER_TOKEN) }
    }
}

/// Returns a number with a comma between thousands: `1,234,567`.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns `1 prompt`, `2 prompts`.
pub(crate) fn counted(count: usize, word: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {word}{ending}", grouped(count))
}
