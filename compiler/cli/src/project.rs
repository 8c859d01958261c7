//! Opens a project on disk and compiles it.

use std::path::{Path, PathBuf};

use relay_compiler::{Compiled, Diagnostics, Files as _, Options, Sources};

use crate::args::{ProjectArgs, ReportFormat};
use crate::disk;
use crate::exit::Exit;
use crate::failure::{Failure, reason};
use crate::files::Disk;
use crate::output::Output;
use crate::progress::Progress;
use crate::report::{self, Origin};

/// The document of a project that is given as a folder.
const DOCUMENT: &str = "project.kdl";

/// A project's document, found on disk.
pub(crate) struct Project {
    /// The project's folder, as it was typed.
    pub(crate) folder: PathBuf,
    /// The document's path from the folder.
    root: String,
    disk: Disk,
}

/// The options of a compilation.
#[derive(Debug, Default)]
pub(crate) struct Request {
    /// The environment whose `when` blocks apply.
    pub(crate) environment: Option<String>,
    /// The epoch, instead of the project's own.
    pub(crate) epoch: Option<u64>,
    /// Whether warnings are errors.
    pub(crate) strict: bool,
    /// Whether the provenance includes the git commit.
    pub(crate) provenance: bool,
}

impl Request {
    /// Returns the options given by the arguments that all compiling verbs share.
    pub(crate) fn of(arguments: &ProjectArgs) -> Self {
        let ProjectArgs { env, strict } = arguments;
        Self { environment: env.clone(), strict: *strict, ..Self::default() }
    }
}

impl Project {
    /// Finds the project whose document, or folder, is at `path`.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let document = if path.is_dir() { path.join(DOCUMENT) } else { path.to_owned() };
        let unreadable = |reason: String| {
            Failure::error(format!("cannot read `{}`: {reason}", document.display()))
        };
        let missing = |error| unreadable(reason(&error)).help(help_for(&document));
        let metadata = std::fs::metadata(&document).map_err(missing)?;
        if !metadata.is_file() {
            return Err(unreadable("it is not a file".into()).help(help_for(&document)));
        }
        let folder = disk::folder_of(&document);
        let disk = Disk::open(&folder).map_err(missing)?;
        let Some(root) = document.file_name().and_then(|name| name.to_str()) else {
            return Err(unreadable("its name is not UTF-8".into()));
        };
        // The compiler requires a readable document.
        disk.read(root).map_err(|error| unreadable(error.to_string()))?;
        Ok(Self { root: root.into(), folder, disk })
    }

    /// Returns the sources that a compiler reads.
    pub(crate) fn sources(&self) -> Sources<'_> {
        Sources::new(&self.disk, &self.root)
    }

    /// Compiles the project.
    pub(crate) fn compile(
        &self,
        sources: &Sources<'_>,
        request: Request,
        output: &Output,
    ) -> Result<Compiled, Failure> {
        let options = self.options(request)?;
        let _progress = Progress::start(output, "compiling");
        self.read(relay_compiler::compile(sources, &options))
    }

    /// Checks the project in every environment, or in the one that is asked for.
    pub(crate) fn check(
        &self,
        sources: &Sources<'_>,
        request: Request,
        output: &Output,
    ) -> Result<Compiled, Failure> {
        let options = self.options(request)?;
        let _progress = Progress::start(output, "checking");
        self.read(relay_compiler::check(sources, &options))
    }

    fn options(&self, request: Request) -> Result<Options, Failure> {
        let Request { environment, epoch, strict, provenance } = request;
        let git = if provenance { Some(crate::process::git_state(&self.folder)?) } else { None };
        Ok(Options { environment, epoch, strict, git })
    }

    /// Fails if the document vanished after it was found.
    fn read(&self, compiled: Compiled) -> Result<Compiled, Failure> {
        match &compiled.unread {
            None => Ok(compiled),
            Some(reason) => {
                let document = self.folder.join(&self.root);
                Err(Failure::error(format!("cannot read `{}`: {reason}", document.display()))
                    .help("it was there a moment ago: run the command again"))
            }
        }
    }

    /// Returns the file names for reports.
    pub(crate) fn origin<'s>(&self, sources: &'s Sources<'s>) -> Origin<'s> {
        Origin::new(sources, &self.folder)
    }
}

/// Reports errors and warnings to standard error, since standard output is for the result. Returns
/// the exit code if there are errors: then a report in a machine format is the result.
pub(crate) fn report_findings(
    diagnostics: &Diagnostics,
    origin: &Origin<'_>,
    format: ReportFormat,
    output: &mut Output,
) -> Result<Option<Exit>, Failure> {
    if diagnostics.has_errors() && format != ReportFormat::Human {
        output.verbatim(&report::draw(diagnostics, origin, format, output.result_look())?)?;
    } else if diagnostics.error_count() + diagnostics.warning_count() > 0 {
        let drawn = report::draw(diagnostics, origin, format, output.message_look())?;
        match format {
            ReportFormat::Human => output.message(drawn),
            _ => output.machine_message(&drawn),
        }
    }
    Ok(diagnostics.has_errors().then_some(Exit::No))
}

/// Returns a help that lists the project documents nearby: the path may be mistyped.
fn help_for(document: &Path) -> String {
    let folder = disk::folder_of(document);
    let mut found: Vec<String> = std::fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .map(|path| path.strip_prefix(".").map(Path::to_owned).unwrap_or(path))
        .filter(|path| path.extension().is_some_and(|ending| ending == "kdl"))
        .map(|path| format!("`{}`", path.display()))
        .collect();
    found.sort();
    found.truncate(5);
    if found.is_empty() {
        "give the project's document, as in `relay check path/to/project.kdl`".into()
    } else {
        format!("did you mean {}?", found.join(" or "))
    }
}
