//! The files of a report, with paths that its reader can open.

use std::path::Path;

use relay_compiler::{Report, Sources, Texts};

/// The files of a report, and their paths for its reader.
pub(crate) struct Origin<'s> {
    pub(super) sources: &'s Sources<'s>,
    pub(super) shelf: Shelf,
}

/// The texts of the files, by their paths in a report.
pub(super) struct Shelf {
    pub(super) texts: Texts,
    /// The prefix of a file's path from the project's folder.
    pub(super) prefix: String,
}

impl<'s> Origin<'s> {
    /// Returns the origin for the sources of a project; `prefix` precedes each path from the
    /// project's folder.
    pub(crate) fn new(sources: &'s Sources<'s>, prefix: String) -> Self {
        Self { sources, shelf: Shelf { texts: sources.texts(), prefix } }
    }

    /// Returns the place of a finding for people: `FILE:LINE`.
    pub(crate) fn place(&self, report: &Report) -> String {
        let place = self.sources.place(report.at);
        format!("{}:{}", self.display_path(&place.file), place.line)
    }

    /// Returns the path in a report for a path from the project's folder.
    pub(crate) fn display_path(&self, path: &str) -> String {
        self.shelf.shown(path)
    }
}

impl Shelf {
    /// Returns a file's path for reports. A document that the compiler ships is in no folder.
    pub(super) fn shown(&self, path: &str) -> String {
        match relay_compiler::is_shipped(path) {
            true => path.to_owned(),
            false => format!("{}{path}", self.prefix),
        }
    }
}

/// Returns the prefix of paths from a folder on disk, as typed by the user: empty, or ends with
/// `/`.
pub(crate) fn folder_prefix(folder: &Path) -> String {
    let folder = folder.to_string_lossy().replace('\\', "/");
    let folder = folder.trim_start_matches("./").trim_end_matches('/');
    match folder {
        "" | "." => String::new(),
        folder => format!("{folder}/"),
    }
}
