//! Where files of clients are: the home, the work tree and the system's folders.

use std::path::{Path, PathBuf};

use relay_hook::OsUser;

use crate::failure::Failure;

/// Whose files an installation writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The files of the person.
    User,
    /// The files of a project.
    Project,
    /// The files of the system, which only root writes.
    Managed,
}

impl Scope {
    /// Returns its name.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Managed => "managed",
        }
    }
}

/// The folders that files of clients are in.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The folder that all paths of the system are below: `/`, except in tests.
    root: PathBuf,
    home: PathBuf,
    project: PathBuf,
    user: OsUser,
}

impl Place {
    /// Finds the folders of this user, below another root for tests.
    ///
    /// The home is that of the password database, as for `relay-hook`: the environment is the agent's.
    pub(crate) fn find(root: Option<&Path>) -> Result<Self, Failure> {
        let user = OsUser::current();
        let home = user
            .home
            .clone()
            .ok_or_else(|| Failure::error("the password database has no home for this user"))?;
        let project = std::path::absolute(".")
            .map_err(|error| Failure::file("find", Path::new("."), &error))?;
        let Some(root) = root else {
            return Ok(Self { root: PathBuf::from("/"), home, project, user });
        };
        let root =
            std::path::absolute(root).map_err(|error| Failure::file("find", root, &error))?;
        let home = below(&root, &home);
        Ok(Self { root, home, project, user })
    }

    /// Returns the folders by the names that people know them by.
    pub(crate) fn of_document() -> Self {
        let (root, home, project) = (PathBuf::from("/"), PathBuf::from("~"), PathBuf::new());
        Self { root, home, project, user: OsUser::default() }
    }

    /// Returns a path of the home.
    pub(crate) fn home(&self, path: &str) -> PathBuf {
        self.home.join(path)
    }

    /// Returns the home.
    pub(crate) fn home_folder(&self) -> &Path {
        &self.home
    }

    /// Returns a path of the project.
    pub(crate) fn project(&self, path: &str) -> PathBuf {
        self.project.join(path)
    }

    /// Returns the folders from that of the project up to the home or the root: files in each of them
    /// may be of a project around it.
    pub(crate) fn project_folders(&self) -> impl Iterator<Item = &Path> {
        self.project.ancestors().take_while(|folder| *folder != self.home && *folder != self.root)
    }

    /// Returns an absolute path of the system.
    pub(crate) fn system(&self, path: &str) -> PathBuf {
        below(&self.root, Path::new(path))
    }

    /// Returns the user.
    pub(crate) fn user(&self) -> &OsUser {
        &self.user
    }

    /// Returns the folder that links of a scope must stay in.
    pub(crate) fn base(&self, scope: Scope) -> PathBuf {
        match scope {
            Scope::User => self.home.clone(),
            Scope::Project => self.project.clone(),
            Scope::Managed => self.system(SYSTEM),
        }
    }
}

/// The folder of settings for all users.
const SYSTEM: &str = if cfg!(target_os = "macos") { "/Library" } else { "/etc" };

/// Returns the path of a client's settings for all users.
pub(super) const fn system_path(linux: &'static str, mac: &'static str) -> &'static str {
    if cfg!(target_os = "macos") { mac } else { linux }
}

fn below(root: &Path, path: &Path) -> PathBuf {
    path.strip_prefix("/").map_or_else(|_| path.to_owned(), |rest| root.join(rest))
}
