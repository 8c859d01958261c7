//! Command lines that relay prints for people to copy.

/// Returns a word in the form for a shell: quoted if necessary.
pub(crate) fn word(text: &str) -> String {
    // A text with a zero byte is impossible in a command line.
    shlex::try_quote(text).map_or_else(|_| text.to_owned(), Into::into)
}
