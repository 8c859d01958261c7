//! Paths as authors write them -> paths inside the project's folder.

use thiserror::Error;

use crate::source::is_shown;

/// The fault of a path that should name a file of the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum PathError {
    /// It is empty.
    #[error("the path is empty")]
    Empty,
    /// It begins at the root of the machine.
    #[error("the path is absolute")]
    Absolute,
    /// It is the address of a web page.
    #[error("relay reads files, and this is an address: save its text in a file")]
    Address,
    /// It leaves the project's folder.
    #[error("the path leaves the project's folder")]
    Outside,
    /// It has a backslash, or a character that a report cannot display.
    #[error("the path has a backslash, or a control or invisible character")]
    Character,
}

/// Returns the path of `written` in the document `document`: from the project's folder, with `.`
/// and `..` resolved.
///
/// # Errors
///
/// The path is empty, absolute, or leads out of the project's folder.
pub(crate) fn resolve(document: &str, written: &str) -> Result<String, PathError> {
    if written.is_empty() {
        return Err(PathError::Empty);
    }
    if written.contains('\\') || !is_shown(written) {
        return Err(PathError::Character);
    }
    if written.contains("://") {
        return Err(PathError::Address);
    }
    let drive = written.as_bytes().get(1) == Some(&b':');
    if written.starts_with('/') || written.starts_with('~') || drive {
        return Err(PathError::Absolute);
    }
    let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in written.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop().ok_or(PathError::Outside)?;
            }
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}
