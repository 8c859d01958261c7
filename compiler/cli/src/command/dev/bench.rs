//! The builds of `relay dev`: one after the other, each compared with the last good one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use relay_bundle::{Bundle, Digest, envelope};

use super::changes;
use crate::answer::summary::Summary;
use crate::args::{DevArgs, ReportFormat};
use crate::command::build;
use crate::disk;
use crate::environment;
use crate::failure::Failure;
use crate::files::Noted;
use crate::keys::{self, Key};
use crate::output::{Output, bad, good};
use crate::project::{self, Project, Request};
use crate::report;

/// The folder of the bundles, in this user's data folder beside the dev key.
const FOLDER: &str = "dev";
/// The hexadecimal digits of a bundle's name.
const DIGITS: usize = 16;

/// The project, and its last good bundle.
pub(super) struct Bench {
    arguments: DevArgs,
    key: Key,
    path: PathBuf,
    served: Option<Arc<Bundle>>,
    /// Whether the last build had errors.
    is_faulty: bool,
}

/// The outcome of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Built {
    /// A good bundle is at the path.
    Good,
    /// The project has errors.
    Faulty,
}

impl Bench {
    pub(super) fn new(arguments: &DevArgs, output: &mut Output) -> Result<Self, Failure> {
        // The project comes first: for a mistyped path, making a key would be wrong.
        Project::open(&arguments.project)?;
        let key = keys::dev_key(output)?;
        let document = project::document_at(&arguments.project);
        let path = bundle_path(&document, arguments.compiling.env.as_deref())?;
        Ok(Self { arguments: arguments.clone(), key, path, served: None, is_faulty: false })
    }

    /// Returns the path of the bundle.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Builds the project and prints the outcome. A good bundle replaces the one at the path.
    pub(super) fn build(&mut self, output: &mut Output) -> Result<(Noted, Built), Failure> {
        let (project, noted) = Project::open_watched(&self.arguments.project)?;
        let sources = project.sources();
        let request = Request::of(&self.arguments.compiling);
        let (compiled, time) = environment::timed(|| project.compile(&sources, request, output));
        let compiled = compiled?;
        let diagnostics = &compiled.diagnostics;
        let origin = project.origin(&sources);
        project::report_findings(diagnostics, &origin, ReportFormat::Human, output)?;
        let built = match compiled.bundle {
            Some(bytes) => {
                self.take(bytes, time, output)?;
                Built::Good
            }
            None => {
                let (errors, warnings) = (diagnostics.error_count(), diagnostics.warning_count());
                self.refuse(&report::counted(errors, warnings), output);
                Built::Faulty
            }
        };
        self.is_faulty = built == Built::Faulty;
        let noted = noted.borrow().clone();
        Ok((noted, built))
    }

    fn refuse(&self, findings: &str, output: &mut Output) {
        let rest = match &self.served {
            Some(_) => "the last good bundle stays in force",
            None => "the first build without errors starts the server",
        };
        output.message(format_args!("{} {findings}; {rest}\n", bad("not built:")));
    }

    fn take(&mut self, bytes: Vec<u8>, time: Duration, output: &mut Output) -> Result<(), Failure> {
        let bundle = Arc::new(build::verified(bytes)?);
        let line = match &self.served {
            Some(old) if old.digest() == bundle.digest() => {
                if self.is_faulty {
                    let words = "the project is again that of the bundle in force";
                    output.message(format_args!("{} {words}\n", good("repaired:")));
                }
                return Ok(());
            }
            Some(old) => {
                let changes = changes::summary(&relay_diff::compare(old, &bundle)?);
                format!("{} {changes}", good(format!("rebuilt in {} ms:", time.as_millis())))
            }
            None => {
                let summary = Summary::of(&bundle)?;
                let built = good(format!("built in {} ms:", time.as_millis()));
                format!("{built} {}  {}", summary.heading(), summary.counts())
            }
        };
        let envelope = keys::envelope(&bundle, std::slice::from_ref(&self.key))?;
        let tail = envelope::tail(envelope.as_ref())?;
        disk::replace_with(&self.path, &[bundle.content_bytes(), &tail])?;
        output.message(format_args!("{line}\n"));
        self.served = Some(bundle);
        Ok(())
    }
}

/// Returns the path of the bundle: one a project and environment, in a folder that only this user may enter. Each run
/// overwrites it, so a run that was ended by a signal leaves nothing that accumulates.
fn bundle_path(document: &Path, environment: Option<&str>) -> Result<PathBuf, Failure> {
    let Some(data) = environment::data_folder() else {
        return Err(Failure::error(
            "cannot store the bundle: neither XDG_DATA_HOME nor HOME is set",
        ));
    };
    let folder = data.join(FOLDER);
    disk::create_private_folder(&folder)?;
    let found =
        fs::canonicalize(document).map_err(|error| Failure::file("read", document, &error))?;
    let environment = environment.unwrap_or_default().as_bytes();
    let identity = [found.as_os_str().as_encoded_bytes(), b"\0", environment].concat();
    let digits: String = Digest::of(&identity).hex().chars().take(DIGITS).collect();
    Ok(folder.join(format!("{digits}.relay")))
}
