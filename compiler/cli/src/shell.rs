//! Command lines that relay prints for people to copy.

/// Returns a word as a shell reads it: quoted if it must be.
pub(crate) fn word(text: &str) -> String {
    // A text with a zero byte is in no command line.
    shlex::try_quote(text).map_or_else(|_| text.to_owned(), Into::into)
}
