//! The table of the shipped facts, which the binary hands over when it starts.
//!
//! Only the binary embeds it, so that a changed fact rebuilds the binary alone.

use std::sync::OnceLock;

static FACTS: OnceLock<&'static [u8]> = OnceLock::new();

/// Takes the table; the first one counts.
pub(crate) fn set_facts(table: &'static [u8]) {
    FACTS.get_or_init(|| table);
}

/// Returns the table; empty unless the binary gave one.
pub(crate) fn facts() -> &'static [u8] {
    FACTS.get().copied().unwrap_or_default()
}
