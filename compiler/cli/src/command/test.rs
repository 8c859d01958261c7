//! `relay test`: the expectations of a project for its bundle, their results, the untouched parts,
//! and the mutants of its policy.

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
    let request = Request { mutants: true, ..Request::of(&arguments.compiling) };
    let compiled = project.check(&sources, request, output)?;
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
    let is_low = tested.is_below(arguments.min_score);
    Ok(if diagnostics.has_errors() || is_low { Exit::No } else { Exit::Yes })
}
