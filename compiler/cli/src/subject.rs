//! What a verb looks into: a bundle, or a project that is compiled in memory to one.

use std::path::Path;

use relay_bundle::{Bundle, OpenError};

use crate::args::{ProjectArgs, SubjectArgs};
use crate::disk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::project::{self, Project, Request};

/// How every bundle begins, as far as a transfer in text mode leaves it alone.
const BEGINNING: &[u8] = b"relay bundle";
/// No bundle has more bytes: its offsets are 32 bits wide.
const BUNDLE_BYTES_MAX: u64 = 5 << 30;

/// A bundle to look into, and its bytes as a file.
pub(crate) struct Subject {
    /// The bundle.
    pub(crate) bundle: Bundle,
    /// Bytes of the file, or that the file would have.
    pub(crate) bytes: usize,
}

/// What there is to look into, or how the verb ends because the project has errors.
pub(crate) enum Opened {
    /// A bundle.
    Subject(Box<Subject>),
    /// The project has errors, and they were reported.
    Ended(Exit),
}

/// Opens the bundle, or compiles the project, at the path that was typed.
pub(crate) fn open(arguments: &SubjectArgs, output: &mut Output) -> Result<Opened, Failure> {
    let path = &arguments.subject;
    if is_bundle(path)? {
        let ProjectArgs { env, strict, format: _ } = &arguments.project;
        if env.is_some() || *strict {
            let message = format!(
                "`--env` and `--strict` are for projects, and `{}` is a bundle",
                path.display()
            );
            return Err(Failure::unknown(message)
                .help("what a bundle holds was decided when it was built: leave them out"));
        }
        return open_bundle(path).map(Box::new).map(Opened::Subject);
    }
    let project = Project::open(path)?;
    let sources = project.sources();
    let request = Request::of(&arguments.project);
    let compiled = project.compile(&sources, request, output)?;
    let origin = project.origin(&sources);
    let format = arguments.project.format;
    if let Some(exit) = project::report_findings(&compiled.diagnostics, &origin, format, output)? {
        return Ok(Opened::Ended(exit));
    }
    let Some(bundle) = compiled.bundle else {
        return Err(Failure::unknown("the compiler made no bundle and named no error")
            .help("this is a fault of relay: report it with the project that shows it"));
    };
    in_memory(bundle).map(Box::new).map(Opened::Subject)
}

/// Opens the bundle in a file.
pub(crate) fn open_bundle(path: &Path) -> Result<Subject, Failure> {
    if path.is_dir() {
        return Err(Failure::unknown(format!("cannot read `{}`: it is a folder", path.display()))
            .help("name a bundle: a file that `relay build` wrote"));
    }
    let bytes = read(path).map_err(|failure| {
        failure.help("name a bundle: a file that `relay build` wrote, as in `homelab.relay`")
    })?;
    in_memory(bytes).map_err(|failure| at(path, failure))
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

fn is_bundle(path: &Path) -> Result<bool, Failure> {
    if path.extension().is_some_and(|ending| ending == "relay") {
        return Ok(true);
    }
    if !path.is_file() {
        // What is wrong with it is reported when it is opened.
        return Ok(false);
    }
    disk::begins_with(path, BEGINNING)
}

fn at(path: &Path, failure: Failure) -> Failure {
    match failure {
        Failure::Stopped { exit, message, help } => {
            Failure::Stopped { exit, message: format!("`{}`: {message}", path.display()), help }
        }
        Failure::ClosedPipe => failure,
    }
}

/// Returns why a file is no bundle that can be trusted, for `verify`: there, that is an answer.
pub(crate) fn open_to_verify(path: &Path) -> Result<Result<Subject, OpenError>, Failure> {
    let file = read(path)?;
    let bytes = file.len();
    Ok(Bundle::open(Box::new(file)).map(|bundle| Subject { bundle, bytes }))
}
