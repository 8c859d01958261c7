//! The text of a TOML file -> its value, or the fault with its place and its key.

use relay_engine::toml_fault::{self, TomlFault};
use serde::de::DeserializeOwned;

/// Reads a value from the text of a file.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, TomlFault> {
    toml::from_str(text)
        .map_err(|error| toml_fault::of_message(text, error.span(), error.message(), &[]))
}

/// Returns the fault of a text that cannot be edited.
pub(crate) fn fault_of_edit(text: &str, error: &toml_edit::TomlError) -> TomlFault {
    toml_fault::of_message(text, error.span(), error.message(), &[])
}
