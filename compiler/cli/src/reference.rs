//! The reference documentation, generated from the tables that the program uses.

mod tools;

/// Returns the name and text of each document, as they are in `docs/NAME`, sorted by name.
#[must_use]
pub fn reference() -> Vec<(&'static str, String)> {
    vec![("language.md", relay_compiler::language_reference()), ("tools.md", tools::document())]
}
