//! `relay check`: the errors and warnings of a project. The report is the result.

use std::io::{self, IsTerminal, Read};
use std::path::Path;

use crate::args::{CheckArgs, ReportFormat};
use crate::exit::Exit;
use crate::failure::{Failure, reason};
use crate::output::{Output, good};
use crate::project::{Project, Request};
use crate::report;

/// More than a document may have; the compiler reports the limit.
const DOCUMENT_BYTES_MAX: u64 = 8 * 1024 * 1024;

pub(crate) fn run(arguments: &CheckArgs, output: &mut Output) -> Result<Exit, Failure> {
    let format = arguments.format.chosen();
    let project = open(&arguments.project, output)?;
    let sources = project.sources();
    let compiled = project.check(&sources, Request::of(&arguments.compiling), output)?;
    let diagnostics = &compiled.diagnostics;
    let origin = project.origin(&sources);
    let drawn = report::draw(diagnostics, &origin, format, output.result_look())?;
    let is_silent = arguments.quiet && diagnostics.is_clean();
    match format {
        ReportFormat::Human | ReportFormat::Short if is_silent => {}
        ReportFormat::Human | ReportFormat::Short => output.result(drawn)?,
        ReportFormat::Json | ReportFormat::Sarif | ReportFormat::Github => {
            output.verbatim(&drawn)?
        }
    }
    if format == ReportFormat::Human && diagnostics.is_clean() && !arguments.quiet {
        let files = sources.digests().len();
        let files = if files == 1 { "1 file".into() } else { format!("{files} files") };
        output.result(format_args!("{} in {files}\n", good("no errors, no warnings")))?;
    }
    Ok(if diagnostics.has_errors() { Exit::No } else { Exit::Yes })
}

/// Opens the project at a path, or with `-` the one whose document is on standard input.
fn open(path: &Path, output: &mut Output) -> Result<Project, Failure> {
    if path != Path::new("-") {
        return Project::open(path);
    }
    let input = io::stdin();
    if input.is_terminal() {
        output.note("reading a project from the terminal; Ctrl+D ends it");
    }
    let mut text = Vec::new();
    let mut input = input.lock().take(DOCUMENT_BYTES_MAX + 1);
    input.read_to_end(&mut text).map_err(|error| {
        Failure::error(format!("cannot read standard input: {}", reason(&error)))
    })?;
    Project::of_text(text)
}
