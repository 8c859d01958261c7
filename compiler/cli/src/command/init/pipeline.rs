//! The pipeline of a new project: that of examples/ci, at the root of the repository, since GitHub
//! reads workflows only there.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::disk::{self, Access};
use crate::failure::Failure;
use crate::process::Repository;
use crate::revision;

/// The workflow without secrets; those that comment and sign are added from examples/ci.
const WORKFLOW: (&str, &str) =
    (".github/workflows/relay.yml", include_str!("../../../../../examples/ci/github/relay.yml"));

/// The scripts that it calls.
const STEPS: [(&str, &str); 5] = [
    (".github/relay/settings.sh", include_str!("../../../../../examples/ci/steps/settings.sh")),
    (".github/relay/check.sh", include_str!("../../../../../examples/ci/steps/check.sh")),
    (".github/relay/build.sh", include_str!("../../../../../examples/ci/steps/build.sh")),
    (".github/relay/verify.sh", include_str!("../../../../../examples/ci/steps/verify.sh")),
    (".github/relay/diff.sh", include_str!("../../../../../examples/ci/steps/diff.sh")),
];

/// The lines of the workflow for the project and the version of relay.
const PROJECT: &str = "RELAY_PROJECT: .";
const COMMIT: &str = "RELAY_COMMIT: COMMIT";

/// A pipeline to write.
pub(super) struct Pipeline {
    /// The root of the repository; before there is one, the project's folder.
    root: PathBuf,
    /// The project's path from there, `.` for the root itself.
    project: String,
}

/// The outcome of writing a pipeline.
pub(super) enum Written {
    /// These files are new.
    Files(Vec<PathBuf>),
    /// The repository has a workflow of this name, which stays as it is.
    Kept(PathBuf),
}

impl Pipeline {
    /// Finds the repository of a project in `folder`, which exists.
    pub(super) fn of(folder: &Path) -> Self {
        let here = || Self { root: folder.to_owned(), project: ".".to_owned() };
        // If git is missing, or outside of a repository, the folder becomes the root of one.
        let Ok(Ok(root)) = Repository::of(folder.to_owned()).root() else { return here() };
        let root = PathBuf::from(revision::os_string(&root));
        let real = |path: &Path| -> io::Result<PathBuf> { fs::canonicalize(path) };
        let (Ok(real_root), Ok(real_folder)) = (real(&root), real(folder)) else { return here() };
        match real_folder.strip_prefix(&real_root) {
            Ok(path) if path.as_os_str().is_empty() => here(),
            Ok(path) => Self { root, project: path.to_string_lossy().replace('\\', "/") },
            Err(_) => here(),
        }
    }

    /// Returns whether the project is in a folder of its repository.
    pub(super) fn is_below_root(&self) -> bool {
        self.project != "."
    }

    /// Returns the project's path from the root.
    pub(super) fn project(&self) -> &str {
        &self.project
    }

    /// Writes the missing files. A second project of a repository finds those of the first.
    pub(super) fn write(&self) -> Result<Written, Failure> {
        let (path, text) = WORKFLOW;
        let path = self.root.join(path);
        if path.exists() {
            return Ok(Written::Kept(path));
        }
        let project = format!("RELAY_PROJECT: '{}'", self.project.replace('\'', "''"));
        let mut text = text.replace(PROJECT, &project);
        if let Some(commit) = option_env!("RELAY_COMMIT") {
            text = text.replace(COMMIT, &format!("RELAY_COMMIT: {commit}"));
        }
        let mut written = Vec::new();
        create(path, &text, Access::AllUsers, &mut written)?;
        for (path, text) in STEPS {
            create(self.root.join(path), text, Access::Program, &mut written)?;
        }
        Ok(Written::Files(written))
    }
}

/// Writes a file unless it is there.
fn create(
    path: PathBuf,
    text: &str,
    access: Access,
    written: &mut Vec<PathBuf>,
) -> Result<(), Failure> {
    let parent = disk::folder_of(&path);
    fs::create_dir_all(&parent).map_err(|error| Failure::file("create", &parent, &error))?;
    if disk::create(&path, text.as_bytes(), access)? {
        written.push(path);
    }
    Ok(())
}
