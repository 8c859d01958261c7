//! The subject of a verb: a bundle, or a project compiled to one in memory.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use relay_bundle::{Bundle, HEADER_BYTES, OpenError};
use relay_compiler::Diagnostics;

use crate::answer::size;
use crate::args::{ProjectArgs, ReportFormat, SubjectArgs};
use crate::disk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::kind::{self, BEGINNING, Wanted, is_bundle};
use crate::output::Output;
use crate::project::{self, Project, Request};
use crate::shell;
use crate::shipped;
use crate::text::{printable, shown_path};

/// The maximum size of a bundle in bytes: its offsets have 32 bits.
pub(crate) const BUNDLE_BYTES_MAX: u64 = 5 << 30;

/// The bytes read from a large bundle: more than header, table and settings can have.
const FRONT_BYTES: u64 = 2 << 20;

/// A bundle to inspect, and its size as a file.
pub(crate) struct Subject {
    /// The bundle.
    pub(crate) bundle: Bundle,
    /// The size in bytes of the file, or of the file that a build would write.
    pub(crate) bytes: usize,
}

/// A bundle to inspect, or the exit code for a project with errors.
pub(crate) enum Opened {
    /// A bundle.
    Subject(Box<Subject>),
    /// The project has errors, which were reported.
    Ended(Exit),
}

/// Opens the bundle, or compiles the project, at the given path.
pub(crate) fn open(arguments: &SubjectArgs, output: &mut Output) -> Result<Opened, Failure> {
    open_path(&arguments.subject, &arguments.project, arguments.format.chosen(), output)
}

/// The same for answers that show why an expectation does not hold: it is reported, and people get
/// the answer too.
pub(crate) fn open_to_explain(
    arguments: &SubjectArgs,
    output: &mut Output,
) -> Result<Opened, Failure> {
    let SubjectArgs { subject, project, format } = arguments;
    if is_bundle(subject)? {
        return open(arguments, output);
    }
    compile(subject, project, format.chosen(), output).and_then(|compiled| match compiled {
        Tried { unproved: Some(bundle), .. } => {
            in_memory(bundle).map(Box::new).map(Opened::Subject)
        }
        Tried { opened, .. } => opened,
    })
}

/// Opens the bundle, or compiles the project, at a path; its findings are printed in `format`.
pub(crate) fn open_path(
    path: &Path,
    arguments: &ProjectArgs,
    format: ReportFormat,
    output: &mut Output,
) -> Result<Opened, Failure> {
    if is_bundle(path)? {
        let ProjectArgs { env, strict } = arguments;
        if env.is_some() || *strict {
            let message = format!(
                "`--env` and `--strict` apply to projects, and `{}` is a bundle",
                shown_path(path)
            );
            return Err(Failure::error(message).help("omit them: a bundle is already compiled"));
        }
        let subject = open_bundle(path)?;
        warn_of_altered(&subject.bundle, output)?;
        return Ok(Opened::Subject(Box::new(subject)));
    }
    compile(path, arguments, format, output)?.opened
}

/// A project that was compiled, and reported.
struct Tried {
    opened: Result<Opened, Failure>,
    /// Its bundle for people, if all of its errors are expectations that do not hold.
    unproved: Option<Vec<u8>>,
}

/// Compiles the project at a path; its findings are printed in `format`.
fn compile(
    path: &Path,
    arguments: &ProjectArgs,
    format: ReportFormat,
    output: &mut Output,
) -> Result<Tried, Failure> {
    let project = Project::open(path)?;
    let sources = project.sources();
    let request = Request::of(arguments);
    let compiled = project.compile(&sources, request, output)?;
    let origin = project.origin(&sources);
    let is_for_people = matches!(format, ReportFormat::Human | ReportFormat::Short);
    if is_for_people && !compiled.diagnostics.has_errors() {
        note_warnings(&compiled.diagnostics, path, output);
    } else if let Some(exit) =
        project::report_findings(&compiled.diagnostics, &origin, format, output)?
    {
        let unproved = compiled.unproved.filter(|_| is_for_people);
        return Ok(Tried { opened: Ok(Opened::Ended(exit)), unproved });
    }
    let opened = match compiled.bundle {
        Some(bundle) => in_memory(bundle).map(Box::new).map(Opened::Subject),
        None => Err(Failure::error("the compiler returned neither a bundle nor an error")
            .help("this is a bug in relay: report it with the project that causes it")),
    };
    Ok(Tried { opened, unproved: None })
}

/// Notes the number of warnings and the place of their list, so that the answer stays visible.
fn note_warnings(diagnostics: &Diagnostics, path: &Path, output: &mut Output) {
    let count = diagnostics.warning_count();
    if count > 0 {
        let (warnings, path) =
            (size::counted(count, "warning"), shell::word(&path.to_string_lossy()));
        output.note(format_args!("the project has {warnings}: `relay check {path}` lists them"));
    }
}

/// Opens the bundle in a file.
pub(crate) fn open_bundle(path: &Path) -> Result<Subject, Failure> {
    kind::refuse_others(path, Wanted::Bundle)?;
    let bytes = read(path).map_err(|failure| {
        failure.help("give a bundle: a file that `relay build` wrote, as in `homelab.relay`")
    })?;
    in_memory(bytes).map_err(|failure| at(&shown_path(path), failure))
}

/// The advice on a bundle with parts that contradict its contents.
const BUILD_AGAIN: &str =
    "it was altered after it was built, or another version of relay built it: build it again";

/// Fails if parts of a bundle contradict its contents: servers refuse it.
pub(crate) fn check_derived(bundle: &Bundle) -> Result<(), Failure> {
    match altered(bundle)? {
        None => Ok(()),
        Some(message) => Err(Failure::no(message).help(BUILD_AGAIN)),
    }
}

/// Warns if parts of a bundle contradict its contents: a report on it may mislead.
fn warn_of_altered(bundle: &Bundle, output: &mut Output) -> Result<(), Failure> {
    bundle.check_all()?;
    if let Some(message) = altered(bundle)? {
        output.warn(&printable(&message), BUILD_AGAIN);
    }
    Ok(())
}

/// Returns words for the parts of a bundle that contradict its contents, if any do.
fn altered(bundle: &Bundle) -> Result<Option<String>, Failure> {
    let parts = relay_diff::named(&relay_compiler::mismatches(bundle, shipped::facts())?);
    Ok(parts.map(|parts| format!("parts of the bundle do not follow from its contents: {parts}")))
}

/// A bundle that may lack some tables.
pub(crate) struct Front {
    /// The bundle. An unread page is refused as damaged.
    pub(crate) bundle: Bundle,
    /// Whether all of the file was read.
    pub(crate) is_whole: bool,
}

/// Opens the bundle in a file from its front, if it is large: digest, settings and signatures.
/// Returns `None` if that fails, so that reading all of it reports the reason.
pub(crate) fn open_front(path: &Path) -> Option<Front> {
    // A pipe can be opened only once, to read all of it: its writer ends when a reader goes.
    if !path.is_file() {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let mut start = [0; HEADER_BYTES];
    file.read_exact(&mut start).ok()?;
    let outline = relay_bundle::outline(&start).ok()?;
    outline.check_length(length).ok()?;
    // Only written memory is resident.
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    let mut read = |from: u64, to: u64| {
        let range = usize::try_from(from).ok()?..usize::try_from(to).ok()?;
        file.seek(SeekFrom::Start(from)).ok()?;
        file.read_exact(bytes.get_mut(range)?).ok()
    };
    let front = length.min(FRONT_BYTES);
    read(0, front)?;
    read(outline.content_bytes, length)?;
    let bundle = Bundle::open(Box::new(bytes)).ok()?;
    Some(Front { bundle, is_whole: front == length })
}

/// Opens a bundle from its bytes.
pub(crate) fn in_memory(file: Vec<u8>) -> Result<Subject, Failure> {
    let bytes = file.len();
    let bundle = Bundle::open(Box::new(file))?;
    Ok(Subject { bundle, bytes })
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    disk::read_that_begins(path, BEGINNING, BUNDLE_BYTES_MAX)
}

/// Returns a failure whose message begins with its subject.
pub(crate) fn at(subject: &str, failure: Failure) -> Failure {
    match failure {
        Failure::Stopped { exit, message, help } => {
            Failure::Stopped { exit, message: format!("`{subject}`: {message}"), help }
        }
        Failure::ClosedPipe => failure,
    }
}

/// Opens a bundle for `verify`, where an unreadable bundle is an answer rather than a failure.
pub(crate) fn open_to_verify(path: &Path) -> Result<Result<Subject, OpenError>, Failure> {
    kind::refuse_others(path, Wanted::Bundle)?;
    let file = read(path)?;
    let bytes = file.len();
    Ok(Bundle::open(Box::new(file)).map(|bundle| Subject { bundle, bytes }))
}
