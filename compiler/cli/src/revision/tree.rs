//! The files of a commit or of the index, as folders that the compiler can read.
//!
//! Links are followed inside the repository's files only. A missing file, such as one of a
//! submodule or of Git LFS, is an error where something asks for it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use relay_compiler::ReadError;

use crate::failure::Failure;
use crate::files::{ENTRIES_MAX, Entries, Entry, EntryKind, FileTree};
use crate::process::{Objects, Repository};

/// As many links as Linux follows in one path.
const LINKS_MAX: usize = 40;
/// The maximum length of a link's target in bytes, as on Linux.
const TARGET_BYTES_MAX: u64 = 4096;
/// The first line of a file with its contents in Git LFS.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// The files of a commit or of the index.
pub(crate) struct Tree {
    /// The folders. The first one is the root.
    folders: Vec<BTreeMap<OsString, Node>>,
    objects: RefCell<Objects>,
}

#[derive(Debug, Clone)]
enum Node {
    /// The index of a folder.
    Folder(usize),
    /// The hash of a file's contents.
    File(Rc<str>),
    /// The hash of a link's target.
    Link(Rc<str>),
    /// Another repository's commit.
    Submodule,
    /// A file of the index that a merge left in conflict.
    Conflict,
}

impl Tree {
    /// Reads the list of the files of a commit.
    pub(crate) fn of_commit(repository: &Repository, commit: &str) -> Result<Self, Failure> {
        let mut tree = Self::empty(repository);
        let mut count = 0;
        repository.files_of_commit(commit, |record| {
            let ([mode, _kind, hash], path) = parts(record)?;
            tree.add(path, node(mode, hash), &mut count)
        })?;
        Ok(tree)
    }

    /// Reads the list of the files of the index.
    pub(crate) fn of_index(repository: &Repository) -> Result<Self, Failure> {
        let mut tree = Self::empty(repository);
        let mut count = 0;
        repository.files_of_index(|record| {
            let ([mode, hash, stage], path) = parts(record)?;
            let node = if stage == "0" { node(mode, hash) } else { Node::Conflict };
            tree.add(path, node, &mut count)
        })?;
        Ok(tree)
    }

    /// Returns the paths of all files and links, sorted within each folder.
    pub(crate) fn paths(&self) -> impl Iterator<Item = PathBuf> {
        let mut open = vec![(0, PathBuf::from("/"))];
        let mut paths = Vec::new();
        while let Some((folder, path)) = open.pop() {
            for (name, node) in self.folders.get(folder).into_iter().flatten() {
                match node {
                    Node::Folder(below) => open.push((*below, path.join(name))),
                    _ => paths.push(path.join(name)),
                }
            }
        }
        paths.into_iter()
    }

    fn empty(repository: &Repository) -> Self {
        Self { folders: vec![BTreeMap::new()], objects: RefCell::new(repository.objects()) }
    }

    fn add(&mut self, path: &[u8], node: Node, count: &mut usize) -> Result<(), Failure> {
        *count += 1;
        if *count > ENTRIES_MAX {
            return Err(Failure::error(format!("the revision has more than {ENTRIES_MAX} files"))
                .help("check it out with `git worktree add`, and compare the folders"));
        }
        let impossible = || {
            let path = String::from_utf8_lossy(path);
            Failure::error(format!("the revision has a path that cannot be checked out: `{path}`"))
        };
        let mut folder = 0;
        let mut names = path.split(|byte| *byte == b'/').peekable();
        while let Some(name) = names.next() {
            if matches!(name, b"" | b"." | b"..") {
                return Err(impossible());
            }
            let name = os_string(name);
            let next = self.folders.len();
            let here = self.folders.get_mut(folder).ok_or_else(impossible)?;
            if names.peek().is_none() {
                // A file in conflict has a record for each of its versions.
                let before = here.insert(name, node);
                return match before {
                    None | Some(Node::Conflict) => Ok(()),
                    Some(_) => Err(impossible()),
                };
            }
            folder = match here.entry(name).or_insert(Node::Folder(next)) {
                Node::Folder(below) => *below,
                _ => return Err(impossible()),
            };
            if folder == next {
                self.folders.push(BTreeMap::new());
            }
        }
        Err(impossible())
    }

    /// Returns the node at a path without links; `None` for the root too, which has no name.
    fn node(&self, found: &Path) -> Option<&Node> {
        let mut node = None;
        for component in found.components() {
            match component {
                Component::RootDir => {}
                Component::Normal(name) => node = Some(self.folder_of(node)?.get(name)?),
                _ => return None,
            }
        }
        node
    }

    /// Returns the contents of a folder; `None` for anything else.
    fn folder_of(&self, node: Option<&Node>) -> Option<&BTreeMap<OsString, Node>> {
        match node {
            None => self.folders.first(),
            Some(Node::Folder(index)) => self.folders.get(*index),
            Some(_) => None,
        }
    }

    fn folder(&self, found: &Path) -> Option<&BTreeMap<OsString, Node>> {
        if found == Path::new("/") {
            return self.folders.first();
        }
        self.folder_of(Some(self.node(found)?))
    }

    fn target(&self, hash: &str) -> Result<PathBuf, ReadError> {
        let target = self.objects.borrow_mut().read(hash, TARGET_BYTES_MAX)?;
        Ok(PathBuf::from(os_string(&target)))
    }
}

impl FileTree for Rc<Tree> {
    fn follow(&self, path: &Path) -> Result<PathBuf, ReadError> {
        let mut found = PathBuf::from("/");
        // The remaining names of the path, the last one first. `.` after a name asks for a folder.
        let mut left: Vec<OsString> = names(path);
        let mut links = 0;
        while let Some(name) = left.pop() {
            let Some(folder) = self.folder(&found) else {
                return Err(match self.node(&found) {
                    Some(Node::Submodule) => in_submodule(&found),
                    _ => ReadError::NotFound,
                });
            };
            if name == "." {
                continue;
            }
            if name == ".." {
                if !found.pop() {
                    return Err(ReadError::Outside);
                }
                continue;
            }
            let Some(node) = folder.get(&name) else { return Err(ReadError::NotFound) };
            let Node::Link(hash) = node else {
                found.push(name);
                continue;
            };
            links += 1;
            if links > LINKS_MAX {
                let reason = "too many levels of symbolic links".into();
                return Err(ReadError::Io { reason });
            }
            let target = self.target(hash)?;
            if target.has_root() {
                return Err(ReadError::Outside);
            }
            if target.as_os_str().is_empty() {
                return Err(ReadError::NotFound);
            }
            left.append(&mut names(&target));
        }
        Ok(found)
    }

    fn is_folder(&self, found: &Path) -> bool {
        // A submodule is a folder too, with its files elsewhere.
        self.folder(found).is_some() || matches!(self.node(found), Some(Node::Submodule))
    }

    fn read(&self, found: &Path, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
        let hash = match self.node(found) {
            Some(Node::File(hash)) => hash,
            Some(Node::Submodule) => return Err(in_submodule(found)),
            Some(Node::Conflict) => {
                let reason = "it has conflicts in the index: resolve them, and `git add` it";
                return Err(ReadError::Io { reason: reason.into() });
            }
            _ => return Err(ReadError::WrongKind { expected: "a file" }),
        };
        let bytes = self.objects.borrow_mut().read(hash, bytes_max)?;
        if bytes.starts_with(LFS_POINTER) {
            let reason = "git has only a pointer to it, and Git LFS its contents: check the \
                          revision out with `git worktree add`, and compare the folders";
            return Err(ReadError::Io { reason: reason.into() });
        }
        Ok(bytes)
    }

    fn entries(&self, found: &Path) -> Result<Entries<'_>, ReadError> {
        let Some(folder) = self.folder(found) else {
            return Err(match self.node(found) {
                Some(Node::Submodule) => in_submodule(found),
                _ => ReadError::WrongKind { expected: "a folder" },
            });
        };
        let entry = |(name, node): (&OsString, &Node)| {
            let kind = match node {
                Node::Folder(_) | Node::Submodule => EntryKind::Folder,
                Node::Link(_) => EntryKind::Link,
                Node::File(_) | Node::Conflict => EntryKind::File,
            };
            Ok(Entry { name: name.clone(), kind })
        };
        Ok(Box::new(folder.iter().map(entry)))
    }
}

/// Returns a text of the system from the bytes of git.
pub(crate) fn os_string(bytes: &[u8]) -> OsString {
    #[cfg(unix)]
    return <OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes).to_owned();
    #[cfg(not(unix))]
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// Returns the names of a path, the last one first; an end of `/` or `/.` gives a `.`.
fn names(path: &Path) -> Vec<OsString> {
    let bytes = path.as_os_str().as_encoded_bytes();
    // The components of a path leave both out.
    let ends_in_folder = bytes.ends_with(b"/") || bytes.ends_with(b"/.");
    let last = ends_in_folder.then(|| OsString::from("."));
    let names = path.components().rev().filter_map(|component| match component {
        Component::Normal(name) => Some(name),
        Component::ParentDir => Some(OsStr::new("..")),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    last.into_iter().chain(names.map(OsStr::to_owned)).collect()
}

/// Returns the parts of a record before its tab, and the path after it.
fn parts(record: &[u8]) -> Result<([&str; 3], &[u8]), Failure> {
    let tab = record.iter().position(|byte| *byte == b'\t').ok_or_else(unknown_record)?;
    let (head, path) = record.split_at_checked(tab).ok_or_else(unknown_record)?;
    let head = std::str::from_utf8(head).map_err(|_| unknown_record())?;
    let mut words = head.split(' ');
    let mut word = || words.next().ok_or_else(unknown_record);
    Ok(([word()?, word()?, word()?], path.get(1..).unwrap_or_default()))
}

fn node(mode: &str, hash: &str) -> Node {
    match mode {
        "120000" => Node::Link(hash.into()),
        "160000" => Node::Submodule,
        _ => Node::File(hash.into()),
    }
}

fn in_submodule(found: &Path) -> ReadError {
    let path = found.to_string_lossy();
    let path = path.trim_start_matches('/');
    let reason = format!(
        "`{path}` is a git submodule, whose files are in another repository: check both out, and \
         compare the folders"
    );
    ReadError::Io { reason }
}

fn unknown_record() -> Failure {
    Failure::error("git failed: its list of files has an unknown form")
}
