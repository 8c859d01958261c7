//! Errors of the operating system in plain words.

use std::io;

/// Returns the cause of an error of a file, to follow a colon.
#[must_use]
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "the file does not exist".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::IsADirectory => "it is a folder".into(),
        io::ErrorKind::NotADirectory => "a part of its path is a file and not a folder".into(),
        io::ErrorKind::AlreadyExists => "it already exists".into(),
        io::ErrorKind::StorageFull => "the disk is full".into(),
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".into(),
        io::ErrorKind::InvalidFilename => "its name is too long or not valid here".into(),
        io::ErrorKind::InvalidData => "it is not UTF-8 text".into(),
        _ => {
            let text = error.to_string();
            // Rust adds the number to the words: `Input/output error (os error 5)`.
            match text.split_once(" (os error") {
                Some((words, _)) => words.to_lowercase(),
                None => text,
            }
        }
    }
}
