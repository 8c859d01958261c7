//! `relay check`: the errors and warnings of a project. The report is the result.

use relay_compiler::Diagnostics;

use crate::args::{CheckArgs, ReportFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, good};
use crate::project::{Project, Request};
use crate::report;

pub(crate) fn run(arguments: &CheckArgs, output: &mut Output) -> Result<Exit, Failure> {
    let format = arguments.format.chosen();
    let project = Project::open(&arguments.project)?;
    let sources = project.sources();
    let compiled = project.check(&sources, Request::of(&arguments.compiling), output)?;
    let diagnostics = &compiled.diagnostics;
    let origin = project.origin(&sources);
    let drawn = report::draw(diagnostics, &origin, format, output.result_look())?;
    match format {
        ReportFormat::Human => output.result(drawn)?,
        ReportFormat::Json | ReportFormat::Sarif | ReportFormat::Github => {
            output.verbatim(&drawn)?
        }
    }
    if format == ReportFormat::Human && is_clean(diagnostics) {
        let files = sources.digests().len();
        let files = if files == 1 { "1 file".into() } else { format!("{files} files") };
        output.result(format_args!("{} in {files}\n", good("no errors, no warnings")))?;
    }
    Ok(if diagnostics.has_errors() { Exit::No } else { Exit::Yes })
}

fn is_clean(diagnostics: &Diagnostics) -> bool {
    diagnostics.error_count() + diagnostics.warning_count() == 0
}
