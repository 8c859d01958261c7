//! The path of `relay-hook` that clients' files name: absolute, and out of reach of other users.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::command_line::PROGRAM;
use crate::environment;
use crate::failure::Failure;
use crate::text::shown_path;

/// Folders that are emptied, or that any user may write to.
const TEMPORARY: [&str; 4] = ["/tmp", "/var/tmp", "/dev/shm", "/private/tmp"];
/// Files of a folder of builds. Cargo writes the first only if it made the folder, the second always.
const BUILD_MARKS: [&str; 2] = ["CACHEDIR.TAG", ".rustc_info.json"];

/// Returns the path of the `relay-hook` beside this program, or in `PATH`.
///
/// Clients run it before each tool for months, so a place that others may write to, that is emptied, or
/// that the next build changes is refused, unless `anywhere` is set.
pub(crate) fn hook_program(anywhere: bool) -> Result<PathBuf, Failure> {
    let found = environment::program(PROGRAM).ok_or_else(|| {
        Failure::error(format!("cannot find `{PROGRAM}` beside `relay` or in PATH"))
            .help("install both programs of one release in one folder")
    })?;
    let path =
        std::path::absolute(&found).map_err(|error| Failure::file("find", &found, &error))?;
    check_text(&path)?;
    if anywhere {
        return Ok(path);
    }
    let real = fs::canonicalize(&path).map_err(|error| Failure::file("read", &path, &error))?;
    for place in [&path, &real] {
        if let Some(fault) = fault(place) {
            return Err(Failure::error(format!(
                "`{}` cannot be what clients run: {fault}",
                shown_path(place)
            ))
            .help("install relay in a folder that only you or root may write to, such as /usr/local/bin or ~/.local/bin"));
        }
    }
    Ok(path)
}

/// Refuses a path that would break a line of a client's file.
pub(super) fn check_text(path: &Path) -> Result<(), Failure> {
    match path.to_str() {
        Some(text) if !text.chars().any(char::is_control) => Ok(()),
        _ => Err(Failure::error(format!(
            "`{}` has characters that a client's file cannot hold",
            shown_path(path)
        ))),
    }
}

/// Returns the reason for keeping a program away from clients.
fn fault(path: &Path) -> Option<String> {
    let temporary =
        TEMPORARY.map(PathBuf::from).into_iter().chain([environment::temporary_folder()]);
    if let Some(folder) = temporary.into_iter().find(|folder| path.starts_with(folder)) {
        return Some(format!("`{}` is a folder for temporary files", shown_path(folder)));
    }
    for place in path.ancestors() {
        let metadata = match fs::metadata(place) {
            Ok(metadata) => metadata,
            Err(error) => {
                let reason = crate::failure::reason(&error);
                return Some(format!("`{}`: {reason}", shown_path(place)));
            }
        };
        // In a folder with the sticky bit, only its owner may replace a file.
        let is_sticky = metadata.is_dir() && metadata.mode() & 0o1000 != 0;
        if metadata.mode() & 0o022 != 0 && !is_sticky {
            return Some(format!("other users may write to `{}`", shown_path(place)));
        }
        if BUILD_MARKS.iter().any(|mark| place.join(mark).exists()) {
            return Some(format!("`{}` is a folder of builds", shown_path(place)));
        }
    }
    None
}
