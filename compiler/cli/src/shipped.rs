//! The table of the shipped facts, which the binary hands over when it starts.
//!
//! The binary embeds it and the libraries do not, so that a fact that changes builds the binary alone anew.

use std::sync::OnceLock;

static FACTS: OnceLock<&'static [u8]> = OnceLock::new();

/// Takes the table; the first one counts.
pub(crate) fn set_facts(table: &'static [u8]) {
    FACTS.get_or_init(|| table);
}

/// Returns the table; empty if the binary handed over none.
pub(crate) fn facts() -> &'static [u8] {
    FACTS.get().copied().unwrap_or_default()
}
