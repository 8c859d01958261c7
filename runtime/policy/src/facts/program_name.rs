//! The name of a program.

/// Folders whose programs are those that the facts describe.
const TRUSTED: &[&str] =
    &["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/"];

/// Returns the name by which facts know the program of a word: without its folder if the programs of a
/// system are there.
#[must_use]
pub fn program_name(word: &[u8]) -> &[u8] {
    TRUSTED.iter().find_map(|folder| word.strip_prefix(folder.as_bytes())).unwrap_or(word)
}
