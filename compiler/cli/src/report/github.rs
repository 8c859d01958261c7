//! The report as workflow commands of GitHub Actions, which annotate the lines of a pull request.
//!
//! GitHub shows ten annotations of a level and step, so findings that are joined are one that lists their places.

use std::fmt::Write as _;

use crate::level::Level;
use crate::report::json::{Finding, Findings};
use crate::workflow::{Annotation, Lines};

/// Returns one command per line.
pub(crate) fn draw(findings: &Findings) -> String {
    let all = &findings.diagnostics;
    let first = all.iter().filter(|finding| finding.joined_to.is_none());
    let with_others = |finding: &Finding| {
        let is_other = |other: &&Finding| {
            other.code == finding.code && other.joined_to.as_ref() == Some(&finding.place)
        };
        command(finding, all.iter().filter(is_other))
    };
    let mut text: String = first.map(with_others).collect();
    if findings.omitted > 0 {
        let message = format!("{} more findings are not listed", findings.omitted);
        let note =
            Annotation { level: Level::Note, place: None, title: "", message: message.as_str() };
        text.push_str(&note.command());
    }
    text
}

fn command<'f>(finding: &Finding, others: impl Iterator<Item = &'f Finding>) -> String {
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
        message: &message(finding, others),
    }
    .command()
}

fn message<'f>(finding: &Finding, others: impl Iterator<Item = &'f Finding>) -> String {
    let mut text = finding.placed_message();
    let labels = finding.labels.iter().filter(|label| !label.primary);
    let labels = labels.map(|label| (label.message.as_deref().unwrap_or("see"), &label.place));
    let others = others.map(|other| (other.message.as_str(), &other.place));
    for (what, place) in labels.chain(others) {
        let _ = write!(text, "\n{what}: {}:{}:{}", place.file, place.line, place.column);
    }
    if let Some(help) = &finding.help {
        let _ = write!(text, "\nhelp: {help}");
    }
    text
}
