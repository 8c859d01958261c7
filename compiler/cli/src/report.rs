//! Renders diagnostics as a report. Only this module and its submodules know themes, colours, JSON.
//!
//! The compiler gives the place of a finding as a span; the source text is attached here, when the
//! report is rendered.

mod alike;
mod github;
mod human;
mod json;
mod origin;
mod rule;
mod sarif;
mod short;

use relay_compiler::{Diagnostics, Sources};

use crate::args::ReportFormat;
use crate::failure::Failure;
use crate::output::{Look, PIPE_WIDTH};

pub(crate) use human::counted;
pub(crate) use json::{Findings, Severity};
pub(crate) use origin::{Origin, folder_prefix};
pub(crate) use rule::Rule;

/// Returns the report in `format`.
pub(crate) fn draw(
    diagnostics: &Diagnostics,
    origin: &Origin<'_>,
    format: ReportFormat,
    look: Look,
) -> Result<String, Failure> {
    let findings = || Findings::of(diagnostics, origin);
    Ok(match format {
        ReportFormat::Human => human::draw(diagnostics, origin, look),
        ReportFormat::Short => short::draw(&findings()),
        ReportFormat::Json => json::draw(&findings())?,
        ReportFormat::Sarif => sarif::draw(&findings())?,
        ReportFormat::Github => github::draw(&findings()),
    })
}

/// Returns the errors and warnings as human output to a pipe, up to the line of counts: 100 columns
/// wide, colourless, paths from the project's folder.
#[must_use]
pub fn findings(sources: &Sources<'_>, diagnostics: &Diagnostics) -> String {
    let look = Look { colour: false, width: PIPE_WIDTH };
    human::findings(diagnostics, &Origin::new(sources, String::new()), look)
}
