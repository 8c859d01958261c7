//! The disk, with a note of every requested path and its state before it was read: a later build may read another
//! state.
//!
//! A folder that was listed is a path of its own, and so is each folder in it, so that a new file is noticed. A path that was
//! missing is noted too: it may appear.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use relay_compiler::ReadError;

use crate::files::disk::Disk;
use crate::files::state::State;
use crate::files::tree::{Entries, FileTree};

/// The disk, which notes each path that is read.
#[derive(Default)]
pub(crate) struct Watched {
    disk: Disk,
    noted: Rc<RefCell<Noted>>,
}

/// Paths and their states. Equal values mean that nothing changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Noted(BTreeMap<PathBuf, Option<State>>);

impl Watched {
    /// Returns the notes, which grow with each path that is read.
    pub(crate) fn noted(&self) -> Rc<RefCell<Noted>> {
        Rc::clone(&self.noted)
    }

    /// Notes a path that is about to be read. Its first state counts: a later one may be newer than the bytes that were read.
    fn note(&self, path: &Path) {
        let Noted(paths) = &mut *self.noted.borrow_mut();
        if !paths.contains_key(path) {
            paths.insert(path.to_owned(), State::of(path));
        }
    }
}

impl FileTree for Watched {
    fn follow(&self, path: &Path) -> Result<PathBuf, ReadError> {
        self.note(path);
        self.disk.follow(path)
    }

    fn is_folder(&self, found: &Path) -> bool {
        self.disk.is_folder(found)
    }

    fn read(&self, found: &Path, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
        self.note(found);
        self.disk.read(found, bytes_max)
    }

    fn entries(&self, found: &Path) -> Result<Entries<'_>, ReadError> {
        self.note(found);
        self.disk.entries(found)
    }
}

impl Noted {
    /// Returns the same paths as they are now.
    pub(crate) fn now(&self) -> Self {
        let Self(paths) = self;
        Self(paths.keys().map(|path| (path.clone(), State::of(path))).collect())
    }

    /// Returns the number of files, missing ones too, and of folders.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let Self(paths) = self;
        let is_folder = |state: &&Option<State>| state.as_ref().is_some_and(|it| it.is_folder());
        let folders = paths.values().filter(is_folder).count();
        (paths.len() - folders, folders)
    }
}
