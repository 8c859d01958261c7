//! The reference documentation that is made from the tables that the program itself uses.

mod tools;

/// Returns name and text of each document, as they are in `docs/NAME`, sorted by name.
#[must_use]
pub fn reference() -> Vec<(&'static str, String)> {
    vec![("language.md", relay_compiler::language_reference()), ("tools.md", tools::document())]
}
