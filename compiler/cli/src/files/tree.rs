//! The tree of files around a project's folder: on disk, or in a revision of git.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use relay_compiler::ReadError;

/// Folders, files and links. Every path begins at the root.
pub(crate) trait FileTree: Sized {
    /// Returns the same tree for another thread; `None` if it belongs to one alone.
    fn another() -> Option<Self> {
        None
    }

    /// Returns the path without links to the target of `path`.
    fn follow(&self, path: &Path) -> Result<PathBuf, ReadError>;

    /// Returns whether a folder is at `found`, a path without links.
    fn is_folder(&self, found: &Path) -> bool;

    /// Returns the bytes of the file at `found`, a path without links, at most `bytes_max`.
    fn read(&self, found: &Path, bytes_max: u64) -> Result<Vec<u8>, ReadError>;

    /// Returns the contents of the folder at `found`, a path without links.
    fn entries(&self, found: &Path) -> Result<Entries<'_>, ReadError>;
}

/// The entries of a folder, in any order.
pub(crate) type Entries<'t> = Box<dyn Iterator<Item = Result<Entry, ReadError>> + 't>;

/// A name in a folder.
pub(crate) struct Entry {
    /// The name.
    pub(crate) name: OsString,
    /// Its kind.
    pub(crate) kind: EntryKind,
}

/// The kind of an entry of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// A folder.
    Folder,
    /// A link to something else.
    Link,
    /// A file, or an unreadable thing such as a device.
    File,
}
