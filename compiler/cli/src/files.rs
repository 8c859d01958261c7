//! A project's folder, as the compiler sees it: on disk, or in a revision of a git repository.
//!
//! No path and no link can reach a file outside the folder. The code that follows paths and lists
//! folders is the same for both, so that the same files give the same list and the same faults.

mod disk;
mod patched;
mod state;
mod tree;
mod typed;
mod watched;

use std::cell::RefCell;
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::sync::OnceLock;

use relay_compiler::{Files, Listed, ReadError, Take, is_shown};

use crate::crew;

pub(crate) use disk::Disk;
pub(crate) use patched::Patched;
pub(crate) use state::State;
pub(crate) use tree::{Entries, Entry, EntryKind, FileTree};
pub(crate) use typed::WithFiles;
pub(crate) use watched::{Noted, Watched};

/// The maximum size of one file in bytes.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The maximum number of files and folders below a listed folder, and in a revision.
pub(crate) const ENTRIES_MAX: usize = 1_000_000;
/// Omitted in a listing of the project's own folder: large, and not part of the project.
const REPOSITORY: &str = ".git";
/// Omitted in every listing: the folder with the receipts of builds, see [`crate::receipt`].
pub(crate) const CACHE: &str = ".relay-cache";

/// The folder of a project.
pub(crate) struct ProjectFiles<T> {
    tree: T,
    /// INVARIANT: free of links, so a path free of links is inside exactly if it begins with this.
    root: PathBuf,
}

impl ProjectFiles<Disk> {
    /// Opens the folder at `root` on disk.
    pub(crate) fn open(root: &Path) -> io::Result<Self> {
        Ok(Self { root: std::fs::canonicalize(root)?, tree: Disk::default() })
    }

    /// Returns the state of the file at a project path; `None` if it is missing, or outside.
    pub(crate) fn state(&self, path: &str) -> Option<State> {
        let (found, metadata) = self.tree.look(&self.path(path).ok()?).ok()?;
        found.starts_with(&self.root).then(|| State::from(&metadata))
    }

    /// Returns the state of each file so, looked at on several threads.
    pub(crate) fn states(&self, paths: &[&str]) -> Vec<Option<State>> {
        let states: Vec<OnceLock<Option<State>>> = paths.iter().map(|_| OnceLock::new()).collect();
        self.share(paths, |files, (index, path)| {
            states.get(index).map(|state| state.set(files.state(path)));
        });
        states.into_iter().map(|state| state.into_inner().flatten()).collect()
    }

    /// Returns the bytes of the file at a project path, and its state before it was read; `None` if it is
    /// missing, or outside.
    pub(crate) fn read_with_state(
        &self,
        path: &str,
    ) -> (Result<Vec<u8>, ReadError>, Option<State>) {
        let looked = self.path(path).and_then(|path| self.tree.look(&path));
        let (found, metadata) = match looked {
            Ok((found, _)) if !found.starts_with(&self.root) => {
                return (Err(ReadError::Outside), None);
            }
            Ok(looked) => looked,
            Err(error) => return (Err(error), None),
        };
        (Disk::read_file(&found, &metadata, FILE_BYTES_MAX), Some(State::from(&metadata)))
    }

    /// Reads files so, on several threads; `take` gets the index of each.
    pub(crate) fn read_all_with_states(
        &self,
        paths: &[&str],
        take: impl Fn(usize, (Result<Vec<u8>, ReadError>, Option<State>)) + Sync,
    ) {
        self.share(paths, |files, (index, path)| take(index, files.read_with_state(path)));
    }
}

impl ProjectFiles<Watched> {
    /// Opens the folder at `root` on disk and notes each path that is read of it.
    pub(crate) fn open_watched(root: &Path) -> io::Result<(Self, Rc<RefCell<Noted>>)> {
        let tree = Watched::default();
        let noted = tree.noted();
        Ok((Self { root: std::fs::canonicalize(root)?, tree }, noted))
    }
}

impl<T: FileTree> ProjectFiles<T> {
    /// Opens the folder at `root`.
    pub(crate) fn below(tree: T, root: &Path) -> Result<Self, ReadError> {
        let root = tree.follow(root)?;
        Ok(Self { tree, root })
    }

    /// Does `work` for each path and its index: on several threads, if there may be another tree like this.
    fn share(&self, paths: &[&str], work: impl Fn(&Self, (usize, &str)) + Sync) {
        let indexed = |index: usize| (index, paths.get(index).copied().unwrap_or_default());
        if T::another().is_none() {
            return (0..paths.len()).for_each(|index| work(self, indexed(index)));
        }
        let root = &self.root;
        let begin = || T::another().map(|tree| Self { tree, root: root.clone() });
        crew::each(paths.len(), begin, |files, index| {
            files.iter().for_each(|files| work(files, indexed(index)));
        });
    }

    /// Returns the location of a project path, with every link resolved.
    fn locate(&self, path: &str) -> Result<PathBuf, ReadError> {
        let found = self.tree.follow(&self.path(path)?)?;
        if found.starts_with(&self.root) { Ok(found) } else { Err(ReadError::Outside) }
    }

    /// Returns the location of a project path, with its links.
    fn path(&self, path: &str) -> Result<PathBuf, ReadError> {
        let relative = Path::new(path);
        let plain = |component| matches!(component, Component::Normal(_));
        match relative.components().all(plain) {
            true => Ok(self.root.join(relative)),
            false => Err(ReadError::Outside),
        }
    }
}

impl<T: FileTree> Files for ProjectFiles<T> {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        self.tree.read(&self.locate(path)?, FILE_BYTES_MAX)
    }

    fn read_all(&self, paths: &[&str], take: &Take<'_>) {
        self.share(paths, |files, (index, path)| take(index, files.read(path)));
    }

    fn list(&self, folder: &str) -> Result<Vec<Listed>, ReadError> {
        let found = self.locate(folder)?;
        if !self.tree.is_folder(&found) {
            return Err(ReadError::WrongKind { expected: "a folder" });
        }
        let mut walk = Walk {
            tree: &self.tree,
            root: &self.root,
            files: Vec::new(),
            folders: Vec::new(),
            seen: 0,
        };
        walk.enter(&Folder { path: folder.into(), found, left: Vec::new(), fault: None })?;
        while let Some(folder) = walk.folders.pop() {
            // The listing goes on after an unreadable folder.
            if let Err(fault) = walk.enter(&folder) {
                let (path, link) = (format!("{}/", folder.path), folder.is_linked());
                walk.files.push(Listed { path, link, fault: Some(fault) });
            }
        }
        walk.files.sort();
        Ok(walk.files)
    }
}

/// Returns the files of a project's folder on disk, as every verb reads them.
///
/// # Errors
///
/// It is missing or unreadable.
pub fn files_on_disk(folder: &Path) -> io::Result<Box<dyn Files>> {
    Ok(Box::new(ProjectFiles::open(folder)?))
}

/// A listing in progress.
struct Walk<'t, T> {
    tree: &'t T,
    root: &'t Path,
    files: Vec<Listed>,
    folders: Vec<Folder>,
    seen: usize,
}

struct Folder {
    /// The path from the project's folder.
    path: String,
    /// The path with every link resolved.
    found: PathBuf,
    /// The folders, with every link resolved, that contain the links of the path.
    left: Vec<PathBuf>,
    /// The error of the path.
    fault: Option<ReadError>,
}

impl Folder {
    /// Returns whether the path contains a link.
    fn is_linked(&self) -> bool {
        !self.left.is_empty()
    }

    /// Returns whether the path to this folder goes through `other`, or through a folder in it.
    fn has_passed(&self, other: &Path) -> bool {
        let mut passed = self.left.iter().chain([&self.found]);
        passed.any(|folder| folder.starts_with(other))
    }
}

impl<T: FileTree> Walk<'_, T> {
    fn enter(&mut self, folder: &Folder) -> Result<(), ReadError> {
        for entry in self.tree.entries(&folder.found)? {
            let entry = entry?;
            self.seen += 1;
            if self.seen > ENTRIES_MAX {
                return Err(ReadError::Io {
                    reason: format!("it has more than {ENTRIES_MAX} files and folders"),
                });
            }
            let (path, fault) = path_of(folder, &entry.name);
            if path != REPOSITORY && entry.name != CACHE {
                self.take(folder, &entry, path, fault);
            }
        }
        Ok(())
    }

    fn take(&mut self, folder: &Folder, entry: &Entry, path: String, fault: Option<ReadError>) {
        let is_link = entry.kind == EntryKind::Link;
        let link = folder.is_linked() || is_link;
        let here = || folder.found.join(&entry.name);
        if entry.kind == EntryKind::Folder {
            let (found, left) = (here(), folder.left.clone());
            self.folders.push(Folder { path, found, left, fault });
            return;
        }
        let target = is_link.then(|| self.tree.follow(&here()));
        let out_of_project = match &target {
            Some(Ok(found)) => self.tree.is_folder(found) && !found.starts_with(self.root),
            // The target of a link out of a repository is unknown; files have an extension.
            Some(Err(ReadError::Outside)) => Path::new(&entry.name).extension().is_none(),
            _ => false,
        };
        match target {
            _ if out_of_project => {
                let (path, fault) = (format!("{path}/"), Some(ReadError::Outside));
                self.files.push(Listed { path, link, fault });
            }
            // Following a link to a folder that the path has already passed would never end. Its
            // files are listed anyway, so only the link itself is listed.
            Some(Ok(found)) if self.tree.is_folder(&found) && !folder.has_passed(&found) => {
                let mut left = folder.left.clone();
                left.push(folder.found.clone());
                self.folders.push(Folder { path, found, left, fault });
            }
            _ => self.files.push(Listed { path, link, fault }),
        }
    }
}

/// Returns the path of a name in a folder, and the fault of the name.
fn path_of(folder: &Folder, name: &OsStr) -> (String, Option<ReadError>) {
    let fault = match name.to_str() {
        None => Some(ReadError::Io {
            reason: "its name, or that of a folder above it, is not UTF-8; rename it".into(),
        }),
        Some(name) => (!is_shown(name)).then_some(ReadError::Name),
    };
    let fault = fault.or_else(|| folder.fault.clone());
    let name = name.to_string_lossy();
    let path = match folder.path.as_str() {
        "" => name.into_owned(),
        above => format!("{above}/{name}"),
    };
    (path, fault)
}
