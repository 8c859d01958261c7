//! The report as workflow commands of GitHub Actions, which annotate the lines of a pull request.

use std::fmt::Write as _;

use crate::level::Level;
use crate::report::json::{Finding, Findings};
use crate::workflow::{Annotation, Lines};

/// Returns one command per line.
pub(crate) fn draw(findings: &Findings) -> String {
    let mut text: String = findings.diagnostics.iter().map(command).collect();
    if findings.omitted > 0 {
        let message = format!("{} more findings are not listed", findings.omitted);
        let note =
            Annotation { level: Level::Note, place: None, title: "", message: message.as_str() };
        text.push_str(&note.command());
    }
    text
}

fn command(finding: &Finding) -> String {
    let place = &finding.place;
    let is_one_line = place.line == place.end_line;
    Annotation {
        level: finding.severity.level(),
        place: Some(Lines {
            file: &place.file,
            lines: (place.line, place.end_line),
            columns: is_one_line.then_some((place.column, place.end_column)),
        }),
        title: &finding.code,
        message: &message(finding),
    }
    .command()
}

fn message(finding: &Finding) -> String {
    let mut text = finding.placed_message();
    for label in finding.labels.iter().filter(|label| !label.primary) {
        let place = &label.place;
        let what = label.message.as_deref().unwrap_or("see");
        let _ = write!(text, "\n{what}: {}:{}:{}", place.file, place.line, place.column);
    }
    if let Some(help) = &finding.help {
        let _ = write!(text, "\nhelp: {help}");
    }
    text
}
