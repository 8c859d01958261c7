//! The text of a TOML file -> its value, or the fault with its place and its key.

use relay_engine::toml_fault::{self, TomlFault};
use serde::de::DeserializeOwned;

/// A kind of table or the name of its type, and the line that a person writes for it.
pub type TableHint = (&'static str, &'static str);

/// Reads a value from the text of a file. A fault about a table of `hints` says how it is written.
///
/// # Errors
///
/// The text is no TOML, or its values are others than `T` has.
pub fn parse<T: DeserializeOwned>(text: &str, hints: &[TableHint]) -> Result<T, TomlFault> {
    toml::from_str(text)
        .map_err(|error| toml_fault::of_message(text, error.span(), error.message(), hints))
}
