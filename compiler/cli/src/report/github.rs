//! The report as workflow commands of GitHub Actions, which annotate the lines of a pull request.

use std::fmt::Write as _;

use crate::report::json::{Finding, Findings, Severity};

/// Returns one command per line.
pub(crate) fn draw(findings: &Findings) -> String {
    let mut text = String::new();
    for finding in &findings.diagnostics {
        text.push_str(&command(finding));
        text.push('\n');
    }
    if findings.omitted > 0 {
        text.push_str(&format!("::notice::{} more findings are not listed\n", findings.omitted));
    }
    text
}

fn command(finding: &Finding) -> String {
    let kind = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let place = &finding.place;
    let mut command = format!(
        "::{kind} file={},line={},endLine={}",
        property(&place.file),
        place.line,
        place.end_line
    );
    // GitHub accepts columns only for ranges within one line.
    if place.line == place.end_line {
        let _ = write!(command, ",col={},endColumn={}", place.column, place.end_column);
    }
    let _ = write!(command, ",title={}::{}", property(&finding.code), message(finding));
    command
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
    data(&text)
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
