//! The name of a program.

/// Folders of the programs that the facts describe.
const TRUSTED: &[&str] =
    &["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/"];

/// Returns the name by which the facts know a program, without a folder of the system.
#[must_use]
pub fn program_name(word: &[u8]) -> &[u8] {
    TRUSTED.iter().find_map(|folder| word.strip_prefix(folder.as_bytes())).unwrap_or(word)
}
