//! The files of clients: within a limit, as text, and inside of the folder that was given.

use std::io;
use std::path::{Path, PathBuf};

use relay_compiler::{Files, ReadError};

use super::model::{At, Level};
use crate::failure::Failure;
use crate::files::{Disk, ProjectFiles};
use crate::text::shown_path;

/// The most bytes of a file.
const BYTES_MAX: usize = 1024 * 1024;
/// The most files of a folder of rules.
const FILES_MAX: usize = 200;
/// The most rules of an import.
pub(crate) const RULES_MAX: usize = 2000;

/// The folders that hold the files of a client.
pub(crate) struct Folders {
    /// The project's folder, or the folder of the one file.
    pub(crate) project: PathBuf,
    /// The one file, by its name in that folder.
    pub(crate) file: Option<String>,
    /// The home folder of a user, if its files are imported.
    pub(crate) home: Option<PathBuf>,
    /// The root of the machine's files, if they are imported.
    pub(crate) system: Option<PathBuf>,
}

/// A file of a client.
#[derive(Debug, Clone)]
pub(crate) struct ClientFile {
    /// Its path for people.
    pub(crate) path: String,
    /// Its level.
    pub(crate) level: Level,
    /// Its text.
    pub(crate) text: String,
}

impl ClientFile {
    /// Returns a place in it.
    pub(crate) fn at(&self, line: usize) -> At {
        At { file: self.path.clone(), line }
    }

    /// Returns the failure for a place in it.
    pub(crate) fn refuse(&self, line: usize, reason: &str) -> Failure {
        Failure::no(format!("`{}:{line}`: {reason}", crate::text::printable(&self.path)))
    }
}

impl Folders {
    /// Reads the files of a client that are there: of each level these paths, in this order. A path that ends with `/*.EXT`
    /// names all files of a folder with that ending, sorted by name.
    pub(crate) fn read(&self, paths: &[(Level, &str)]) -> Result<Vec<ClientFile>, Failure> {
        if let Some(name) = &self.file {
            let shown = shown_path(self.project.join(name));
            let level = paths
                .iter()
                .find(|(_, path)| path.rsplit('/').next() == Some(name.as_str()))
                .map_or(Level::Project, |(level, _)| match level {
                    // A file that is given alone is of the project, unless its name says more.
                    Level::Local => Level::Local,
                    Level::Managed | Level::User | Level::Project => Level::Project,
                });
            let text = text(&open(&self.project)?, name, &shown)?
                .ok_or_else(|| Failure::error(format!("cannot read `{shown}`: file not found")))?;
            return Ok(vec![ClientFile { path: shown, level, text }]);
        }
        let mut files = Vec::new();
        for (level, path) in paths {
            let root = match level {
                Level::Managed => self.system.as_deref(),
                Level::User => self.home.as_deref(),
                Level::Project | Level::Local => Some(self.project.as_path()),
            };
            let Some(root) = root else { continue };
            let tree = open(root)?;
            let named = match path.split_once("/*") {
                None => vec![(*path).to_owned()],
                Some((folder, ending)) => listed(&tree, folder, ending, root)?,
            };
            for path in named {
                let shown = match level {
                    Level::Managed => format!("/{path}"),
                    Level::User => format!("~/{path}"),
                    Level::Project | Level::Local => path.clone(),
                };
                if let Some(text) = text(&tree, &path, &shown)? {
                    files.push(ClientFile { path: shown, level: *level, text });
                }
            }
        }
        Ok(files)
    }
}

fn open(root: &Path) -> Result<ProjectFiles<Disk>, Failure> {
    let fail = |error: io::Error| Failure::file("read", root, &error);
    ProjectFiles::open(root).map_err(fail)
}

/// Returns the files of a folder with an ending, by path, sorted.
fn listed(
    tree: &ProjectFiles<Disk>,
    folder: &str,
    ending: &str,
    root: &Path,
) -> Result<Vec<String>, Failure> {
    let refused = |reason: &str| {
        Failure::no(format!("cannot list `{}`: {reason}", shown_path(root.join(folder))))
    };
    let all = match tree.list(folder) {
        Ok(all) => all,
        Err(ReadError::NotFound) => return Ok(Vec::new()),
        Err(error) => return Err(refused(&error.to_string())),
    };
    let inside = |path: &str| {
        path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')).map(str::to_owned)
    };
    let direct = all.into_iter().filter_map(|listed| {
        let name = inside(&listed.path)?;
        (!name.contains('/') && !name.starts_with('.') && name.ends_with(ending))
            .then_some(listed.path)
    });
    let found: Vec<_> = direct.collect();
    if found.len() > FILES_MAX {
        return Err(refused(&format!("it has more than {FILES_MAX} files")));
    }
    Ok(found)
}

/// Reads a file; `None` if it is missing. An unreadable one stops the import: it may hold a rule that denies.
fn text(tree: &ProjectFiles<Disk>, path: &str, shown: &str) -> Result<Option<String>, Failure> {
    let refused = |reason: String| {
        Failure::no(format!("cannot import `{}`: {reason}", crate::text::printable(shown)))
    };
    let bytes = match tree.read(path) {
        Ok(bytes) => bytes,
        Err(ReadError::NotFound) => return Ok(None),
        Err(error) => return Err(refused(error.to_string())),
    };
    if bytes.len() > BYTES_MAX {
        return Err(refused(format!(
            "it has {} bytes, over the limit of {BYTES_MAX}",
            bytes.len()
        )));
    }
    let text = String::from_utf8(bytes).map_err(|_| refused("it is not UTF-8".to_owned()))?;
    Ok(Some(text))
}
