//! Names of files in a transfer.

use std::ffi::OsString;
use std::io;

use super::account::TransferError;

/// Returns the path on the host as SFTP takes it: `~/` is the folder in which a session begins.
pub(super) fn remote_path(path: &str) -> Result<String, TransferError> {
    let kind = |reason| Err(TransferError::Kind { path: path.to_owned(), reason });
    if path.is_empty() || path.contains('\0') {
        return kind("is no path");
    }
    match path.strip_prefix('~') {
        None => Ok(path.to_owned()),
        Some("" | "/") => Ok(".".to_owned()),
        Some(rest) => match rest.strip_prefix('/') {
            Some(rest) => Ok(rest.to_owned()),
            None => kind("names the home of another user, which SFTP does not resolve"),
        },
    }
}

/// Returns the name of an entry that a host listed, if it is UTF-8 and stays in its folder.
pub(super) fn entry_name(name: &str, path: &str) -> Result<OsString, TransferError> {
    // Other bytes than UTF-8 arrive as this character, and the name of the file is lost.
    let broken = name.contains(char::REPLACEMENT_CHARACTER);
    let leads_out = name.is_empty() || matches!(name, "." | "..") || name.contains(['/', '\0']);
    if broken || leads_out {
        return Err(TransferError::Name { name: path.escape_debug().to_string() });
    }
    Ok(name.into())
}

/// Returns a random name beside `path`.
pub(super) fn temporary_name(path: &str) -> String {
    let mut random = [0; 8];
    // If the bytes stay zero, the name may be taken; creating it then fails.
    let _ = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::NONBLOCK);
    let mark = u64::from_ne_bytes(random);
    let (folder, name) = match path.rsplit_once('/') {
        Some((folder, name)) => (format!("{folder}/"), name),
        None => (String::new(), path),
    };
    // The name of a file has at most 255 bytes.
    let short: String = name.chars().take(40).collect();
    format!("{folder}.{short}.relay-{mark:016x}")
}

/// Runs work on files on a thread that may block.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(io::Error::other(error)),
    }
}
