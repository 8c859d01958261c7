//! `relay test`: the expectations of a project for its bundle, their results, and the untouched
//! parts.

mod answer;
mod human;
mod junit;

use crate::args::{ReportFormat, TestArgs, TestFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::project::{Project, Request};
use crate::report;

pub(crate) use answer::Tested;

pub(crate) fn run(arguments: &TestArgs, output: &mut Output) -> Result<Exit, Failure> {
    let project = Project::open(&arguments.project)?;
    let sources = project.sources();
    let compiled = project.check(&sources, Request::of(&arguments.compiling), output)?;
    let origin = project.origin(&sources);
    let tested = Tested::of(&compiled, &sources, &origin);
    let format = arguments.format.chosen();
    match format {
        TestFormat::Human => output.result(human::draw(&tested))?,
        TestFormat::Json => output.json(&tested)?,
        TestFormat::Junit => output.verbatim(&junit::draw(&tested))?,
    }
    let diagnostics = &compiled.diagnostics;
    if !diagnostics.is_clean() {
        let look = output.message_look();
        output.message(report::draw(diagnostics, &origin, ReportFormat::Human, look)?);
    }
    Ok(if diagnostics.has_errors() { Exit::No } else { Exit::Yes })
}
