//! The documents in `docs/` that are made of the code, so that neither says what the other does
//! not.

/// Returns file name and text of each reference, as they are in `docs/`, sorted by name.
#[must_use]
pub fn references() -> Vec<(&'static str, String)> {
    vec![("language.md", relay_compiler::language_reference())]
}
