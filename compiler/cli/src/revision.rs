//! Revisions of a git repository: `REV:PATH`, and the files of one.

mod name;
mod tree;

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use relay_compiler::{Files, ReadError, nearest};

use crate::failure::Failure;
use crate::files::{EntryKind, FileTree, ProjectFiles};
use crate::process::{Inside, Repository};
use crate::project::{DOCUMENT, Project};
use crate::report;
use crate::revision::tree::Tree;

pub(crate) use name::Named;
pub(crate) use tree::os_string;

/// The most project documents of a revision in a help.
const LISTED_MAX: usize = 5;

/// A commit, or the index, and its files.
pub(crate) struct Revision {
    /// As typed; empty for the index.
    name: OsString,
    /// The commit's hash; absent for the index.
    pub(crate) commit: Option<String>,
    /// The path of the current folder from the root; absent outside of a work tree.
    prefix: Option<PathBuf>,
    tree: Rc<Tree>,
}

/// The kind of object at a path of a revision.
pub(crate) enum Found {
    /// A folder.
    Folder,
    /// A file.
    File,
    /// Nothing.
    Nothing,
}

impl Revision {
    /// Opens the revision `name` of a repository; the index if it is empty. `subject` is the user's
    /// word for it, in messages.
    pub(crate) fn open(
        repository: &Repository,
        name: &OsStr,
        subject: &str,
    ) -> Result<Self, Failure> {
        let inside = repository.inside()?.map_err(|reason| {
            Failure::error(format!("cannot read `{subject}`: {reason}"))
                .help("run relay in a git repository, or compare what is on disk")
        })?;
        let Inside { prefix, is_shallow } = inside;
        let prefix = prefix.map(|prefix| PathBuf::from(tree::os_string(&prefix)));
        let (commit, tree) = if name.is_empty() {
            if prefix.is_none() {
                return Err(Failure::error(format!(
                    "cannot read `{subject}`: there is no index outside of a work tree"
                ))
                .help("name a commit, as in `HEAD:PATH`"));
            }
            (None, Tree::of_index(repository)?)
        } else {
            let Some(commit) = repository.commit(name)? else {
                return Err(unknown(name, subject, is_shallow));
            };
            let tree = Tree::of_commit(repository, &commit)?;
            (Some(commit), tree)
        };
        Ok(Self { name: name.to_owned(), commit, prefix, tree: Rc::new(tree) })
    }

    /// Returns the path from the root that `written` means, after a `/`.
    pub(crate) fn path(&self, written: &Path, subject: &str) -> Result<PathBuf, Failure> {
        let refuse = |reason: &str, help: &str| {
            Err(Failure::error(format!("cannot read `{subject}`: {reason}")).help(help))
        };
        let mut path = PathBuf::from("/");
        if matches!(written.components().next(), Some(Component::CurDir | Component::ParentDir)) {
            match &self.prefix {
                Some(prefix) => path.extend(prefix.components()),
                None => {
                    return refuse(
                        "a path that begins with `.` needs a work tree",
                        "write the path from the repository's root",
                    );
                }
            }
        }
        for component in written.components() {
            match component {
                Component::Normal(name) => path.push(name),
                Component::CurDir => {}
                Component::ParentDir if path.pop() => {}
                Component::ParentDir => {
                    return refuse(
                        "the path leads out of the repository",
                        "a path in a revision begins at the repository's root, or with `./` here",
                    );
                }
                Component::RootDir | Component::Prefix(_) => {
                    return refuse(
                        "the path is absolute",
                        "a path in a revision begins at the repository's root, without `/`",
                    );
                }
            }
        }
        Ok(path)
    }

    /// Returns the kind of the object at `path`.
    pub(crate) fn find(&self, path: &Path, subject: &str) -> Result<Found, Failure> {
        match self.tree.follow(path) {
            Ok(found) if self.tree.is_folder(&found) => Ok(Found::Folder),
            Ok(_) => Ok(Found::File),
            Err(ReadError::NotFound) => Ok(Found::Nothing),
            Err(error) => Err(unreadable(subject, &error)),
        }
    }

    /// Opens the project whose document is at `document`.
    pub(crate) fn project(&self, document: &Path, subject: &str) -> Result<Project, Failure> {
        let folder = document.parent().unwrap_or(document);
        let Some(root) = document.file_name().and_then(OsStr::to_str) else {
            return Err(Failure::error(format!("cannot read `{subject}`: its name is not UTF-8")));
        };
        let files = ProjectFiles::below(Rc::clone(&self.tree), folder);
        let files = files.map_err(|error| unreadable(subject, &error))?;
        let mut prefix = self.label(folder);
        if !prefix.ends_with(':') {
            prefix.push('/');
        }
        let folder = report::folder_prefix(folder.strip_prefix("/").unwrap_or(folder));
        Project::of(Box::new(files), root, prefix, folder)
    }

    /// Returns the bytes of the file at `path`.
    pub(crate) fn read(
        &self,
        path: &Path,
        bytes_max: u64,
        subject: &str,
    ) -> Result<Vec<u8>, Failure> {
        let found = self.tree.follow(path);
        let bytes = found.and_then(|found| self.tree.read(&found, bytes_max));
        bytes.map_err(|error| unreadable(subject, &error))
    }

    /// Returns the paths of the files, and links, in the folder at `path` whose names end with
    /// `ending`, sorted.
    pub(crate) fn files(
        &self,
        path: &Path,
        ending: &str,
        subject: &str,
    ) -> Result<Vec<PathBuf>, Failure> {
        let list = || -> Result<Vec<PathBuf>, ReadError> {
            let mut paths = Vec::new();
            for entry in self.tree.entries(&self.tree.follow(path)?)? {
                let entry = entry?;
                let file = path.join(&entry.name);
                if file.extension() == Some(OsStr::new(ending)) && entry.kind != EntryKind::Folder {
                    paths.push(file);
                }
            }
            paths.sort();
            Ok(paths)
        };
        list().map_err(|error| unreadable(subject, &error))
    }

    /// Returns `REV:PATH` for a path after a `/`.
    pub(crate) fn label(&self, path: &Path) -> String {
        let path = path.to_string_lossy();
        format!("{}:{}", self.name.to_string_lossy(), path.trim_start_matches('/'))
    }

    /// Returns the revision in the words of a person.
    pub(crate) fn words(&self) -> String {
        match &self.commit {
            None => "the index".into(),
            Some(commit) => {
                let short = commit.get(..12).unwrap_or(commit);
                let name = self.name.to_string_lossy();
                if name == *commit { short.into() } else { format!("`{name}` ({short})") }
            }
        }
    }

    /// Returns the paths that a person may have meant by an unknown one.
    pub(crate) fn advice(&self, path: &Path) -> String {
        let paths: Vec<_> = self
            .tree
            .paths()
            .filter(|path| {
                path.extension().is_some_and(|ending| ending == "kdl" || ending == "relay")
            })
            .collect();
        let documents = || paths.iter().filter(|path| path.ends_with(DOCUMENT));
        let folders = documents().filter_map(|path| path.parent());
        let known: Vec<_> =
            paths.iter().map(PathBuf::as_path).chain(folders).map(|it| self.label(it)).collect();
        let name = self.label(path);
        if let Some(near) = nearest(&name, known.iter().map(String::as_str)) {
            return format!("did you mean `{near}`?");
        }
        let mut listed: Vec<_> = documents().map(|it| format!("`{}`", self.label(it))).collect();
        if listed.is_empty() {
            return "a path in a revision begins at the repository's root, or with `./` here"
                .into();
        }
        let more = listed.len().saturating_sub(LISTED_MAX);
        listed.truncate(LISTED_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("it has {}{more}", listed.join(", "))
    }
}

/// Returns the files of a folder in the commit of HEAD, as `relay diff` reads them; `None` if it
/// lacks the folder, or the folder is outside of any repository.
#[must_use]
pub fn files_at_head(folder: &Path) -> Option<Box<dyn Files>> {
    let head = Revision::open(&Repository::of(folder.to_owned()), "HEAD".as_ref(), "HEAD").ok()?;
    let path = head.path(Path::new("."), "HEAD").ok()?;
    Some(Box::new(ProjectFiles::below(head.tree, &path).ok()?))
}

fn unreadable(subject: &str, error: &ReadError) -> Failure {
    Failure::error(format!("cannot read `{subject}`: {error}"))
}

/// Returns the failure for an unknown revision, with the command that fetches it.
fn unknown(name: &OsStr, subject: &str, is_shallow: bool) -> Failure {
    let name = name.to_string_lossy();
    let failure = Failure::error(format!("cannot read `{subject}`: unknown revision `{name}`"));
    if name == "HEAD" {
        return failure.help("the repository has no commit yet: compare with `/dev/null`");
    }
    // Up to the suffixes by which git steps back from a name.
    let base = name.split(['^', '~', '@', ':', '{']).next().unwrap_or_default();
    let (remote, branch) = match base.strip_prefix("origin/") {
        Some(branch) => ("origin", branch),
        None => ("origin", base),
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    let is_name = !branch.is_empty() && !branch.starts_with('-') && branch.chars().all(is_plain);
    let branch = if is_name && branch != "HEAD" { format!(" {branch}") } else { String::new() };
    failure.help(if is_shallow {
        format!(
            "this clone is shallow: `git fetch --unshallow` fetches all commits, `git fetch \
             --depth=50 {remote}{branch}` the last 50"
        )
    } else {
        format!("`git fetch {remote}{branch}` fetches it, if the other repository has it")
    })
}
