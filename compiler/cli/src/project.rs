//! Opens a project, on disk or in any other [`Files`], and compiles it.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use relay_compiler::{Compiled, Diagnostics, Files, Git, Options, Sources};

use crate::args::{ProjectArgs, ReportFormat};
use crate::asked::{Asked, Recorded};
use crate::disk;
use crate::exit::Exit;
use crate::failure::{Failure, reason};
use crate::files::{Noted, Patched, ProjectFiles, WithFiles};
use crate::kind::{self, Wanted};
use crate::output::Output;
use crate::progress::Progress;
use crate::report::{self, Origin};
use crate::shipped;
use crate::text::{printable, shown_path};

/// The name in reports of a document from standard input.
const STANDARD_INPUT: &str = "<stdin>";

/// The document of a project named by its folder.
pub(crate) const DOCUMENT: &str = "project.kdl";

/// The code of the report that the project does not name the requested environment.
const UNKNOWN_ENVIRONMENT: &str = "when::unknown_environment";

/// The name of a project whose folder has an invalid name.
const NAME: &str = "my-team";

/// A project with its document found.
pub(crate) struct Project {
    files: Box<dyn Files>,
    /// The document's path from the project's folder.
    root: String,
    /// The prefix of a file's path from the project's folder, in reports.
    prefix: String,
    /// The same, cut before its revision.
    folder: String,
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
    /// The commit that the provenance names.
    pub(crate) git: Option<Git>,
    /// Whether the mutants of the policy are tried.
    pub(crate) mutants: bool,
}

impl Request {
    /// Returns the options given by the arguments that all compiling verbs share.
    pub(crate) fn of(arguments: &ProjectArgs) -> Self {
        let ProjectArgs { env, strict } = arguments;
        Self { environment: env.clone(), strict: *strict, ..Self::default() }
    }
}

impl Project {
    /// Finds the project whose document, or folder, is at `path` on disk.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        Self::found(path, |folder| Ok(Box::new(ProjectFiles::open(folder)?)))
    }

    /// The same, and notes every file and folder that is read of it, now and later.
    pub(crate) fn open_watched(path: &Path) -> Result<(Self, Rc<RefCell<Noted>>), Failure> {
        let mut notes = Rc::default();
        let project = Self::found(path, |folder| {
            let (files, noted) = ProjectFiles::open_watched(folder)?;
            notes = noted;
            Ok(Box::new(files))
        })?;
        Ok((project, notes))
    }

    /// The same, and notes every question of the compiler and its answer.
    pub(crate) fn open_recorded(path: &Path) -> Result<(Self, Rc<RefCell<Asked>>), Failure> {
        let mut notes = Rc::default();
        let project = Self::found(path, |folder| {
            let files = Recorded::of(ProjectFiles::open(folder)?);
            notes = files.asked();
            Ok(Box::new(files))
        })?;
        Ok((project, notes))
    }

    /// The same with files that can be given other texts.
    pub(crate) fn open_patched(path: &Path) -> Result<(Self, Patched), Failure> {
        let mut patched = None;
        let project = Self::found(path, |folder| {
            let files = patched.insert(Patched::of(ProjectFiles::open(folder)?));
            Ok(Box::new(files.clone()))
        })?;
        let opened = || Failure::error("the project was found and has no files");
        Ok((project, patched.ok_or_else(opened)?))
    }

    fn found(
        path: &Path,
        open: impl FnOnce(&Path) -> io::Result<Box<dyn Files>>,
    ) -> Result<Self, Failure> {
        let document = document_at(path);
        if path == Path::new("-") {
            return Err(Failure::error("only `relay check` reads a project from standard input")
                .help("give the project's document, as in `relay build path/to/project.kdl`"));
        }
        let unreadable = |reason: String| {
            Failure::error(format!("cannot read `{}`: {reason}", shown_path(&document)))
        };
        let missing = |error| unreadable(reason(&error)).help(help_for(&document));
        let metadata = std::fs::metadata(&document).map_err(missing)?;
        if !metadata.is_file() {
            return Err(unreadable("it is not a file".into()).help(help_for(&document)));
        }
        let folder = disk::folder_of(&document);
        kind::refuse_others(&document, Wanted::Project)?;
        let files = open(&folder).map_err(missing)?;
        let Some(root) = document.file_name().and_then(|name| name.to_str()) else {
            return Err(unreadable("its name is not UTF-8".into()));
        };
        // The compiler requires a readable document.
        files.read(root).map_err(|error| unreadable(error.to_string()))?;
        let prefix = report::folder_prefix(&folder);
        let folder = prefix.clone();
        Ok(Self { files, root: root.into(), prefix, folder })
    }

    /// Opens the project whose document is this text, with other files from the current folder.
    pub(crate) fn of_text(text: Vec<u8>) -> Result<Self, Failure> {
        let files = ProjectFiles::open(Path::new(".")).map_err(|error| {
            Failure::error(format!("cannot read this folder: {}", reason(&error)))
        })?;
        let added = [(STANDARD_INPUT.to_owned(), text)].into();
        let files = WithFiles { files: Box::new(files), added };
        Self::of(Box::new(files), STANDARD_INPUT, String::new(), String::new())
    }

    /// Takes the project of these files with its document at `root`; reports show paths after
    /// `prefix`, which ends with its `folder`.
    pub(crate) fn of(
        files: Box<dyn Files>,
        root: &str,
        prefix: String,
        folder: String,
    ) -> Result<Self, Failure> {
        // The compiler requires a readable document.
        files
            .read(root)
            .map_err(|error| Failure::error(format!("cannot read `{prefix}{root}`: {error}")))?;
        Ok(Self { files, root: root.into(), prefix, folder })
    }

    /// Returns the prefix of a file's path from the project's folder, for programs that search for
    /// it in a checkout: empty, or it ends with `/`.
    pub(crate) fn folder(&self) -> &str {
        &self.folder
    }

    /// Returns the sources that a compiler reads.
    pub(crate) fn sources(&self) -> Sources<'_> {
        Sources::new(&*self.files, &self.root).with_facts(shipped::facts())
    }

    /// Compiles the project.
    pub(crate) fn compile(
        &self,
        sources: &Sources<'_>,
        request: Request,
        output: &Output,
    ) -> Result<Compiled, Failure> {
        let _progress = Progress::start(output, "compiling");
        let compiled = self.read(relay_compiler::compile(sources, &request.into()))?;
        self.with_environment(compiled, sources)
    }

    /// Checks the project in every environment, or in the requested one.
    pub(crate) fn check(
        &self,
        sources: &Sources<'_>,
        request: Request,
        output: &Output,
    ) -> Result<Compiled, Failure> {
        let _progress = Progress::start(output, "checking");
        let compiled = self.read(relay_compiler::check(sources, &request.into()))?;
        self.with_environment(compiled, sources)
    }

    /// Fails if the project does not name the environment of the request: the fault is in the command line, and not in
    /// the project.
    fn with_environment(
        &self,
        compiled: Compiled,
        sources: &Sources<'_>,
    ) -> Result<Compiled, Failure> {
        let found = compiled.diagnostics.sorted();
        let Some(unknown) = found.iter().find(|report| report.code() == UNKNOWN_ENVIRONMENT) else {
            return Ok(compiled);
        };
        let mut help = unknown.diagnostic.help().map(|help| help.to_string()).unwrap_or_default();
        let document = sources.file(unknown.at.file);
        let name = document
            .text()
            .ok()
            .and_then(|text| text.get(unknown.at.start as usize..unknown.at.end as usize));
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            let place = self.origin(sources).place(unknown);
            help.push_str(&format!(" (`when {name}`, {place})"));
        }
        Err(Failure::error(printable(&unknown.diagnostic.to_string())).help(printable(&help)))
    }

    /// Fails if the document vanished after it was found.
    pub(crate) fn read(&self, compiled: Compiled) -> Result<Compiled, Failure> {
        match &compiled.unread {
            None => Ok(compiled),
            Some(reason) => {
                let Self { files: _, root, prefix, folder: _ } = self;
                Err(Failure::error(format!("cannot read `{prefix}{root}`: {reason}"))
                    .help("it was there a moment ago: run the command again"))
            }
        }
    }

    /// Returns the file names for reports.
    pub(crate) fn origin<'s>(&self, sources: &'s Sources<'s>) -> Origin<'s> {
        Origin::new(sources, self.prefix.clone())
    }
}

impl From<Request> for Options {
    fn from(request: Request) -> Self {
        let Request { environment, epoch, strict, git, mutants } = request;
        Self { environment, epoch, strict, git, mutants }
    }
}

/// Returns the path of the document of the project at `path` on disk: itself, or in this folder.
pub(crate) fn document_at(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(DOCUMENT) } else { path.to_owned() }
}

/// Returns a project name after the folder's own.
pub(crate) fn name_of(folder: &Path) -> Result<String, Failure> {
    let path = std::fs::canonicalize(folder).map_err(|error| {
        Failure::error(format!("cannot use `{}`: {}", shown_path(folder), reason(&error)))
    })?;
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let name: String = name
        .unwrap_or_default()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(64)
        .collect();
    let name = name.trim_matches('-');
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic());
    Ok(if begins { name.to_owned() } else { NAME.to_owned() })
}

/// Reports errors and warnings to standard error, since standard output is for the result. Returns
/// the exit code for errors: then a report in a machine format is the result.
pub(crate) fn report_findings(
    diagnostics: &Diagnostics,
    origin: &Origin<'_>,
    format: ReportFormat,
    output: &mut Output,
) -> Result<Option<Exit>, Failure> {
    let is_for_people = matches!(format, ReportFormat::Human | ReportFormat::Short);
    if diagnostics.has_errors() && !is_for_people {
        output.verbatim(&report::draw(diagnostics, origin, format, output.result_look())?)?;
    } else if !diagnostics.is_clean() {
        let drawn = report::draw(diagnostics, origin, format, output.message_look())?;
        if is_for_people { output.message(drawn) } else { output.machine_message(&drawn) }
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
        .map(|path| format!("`{}`", shown_path(&path)))
        .collect();
    found.sort();
    found.truncate(5);
    if found.is_empty() {
        "give the project's document, as in `relay check path/to/project.kdl`; `relay init my-team` writes one to begin with"
            .into()
    } else {
        format!("did you mean {}?", found.join(" or "))
    }
}
