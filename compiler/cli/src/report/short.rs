//! The report with a finding, or a further place of one, on each line, as editors and `grep` read it.

use crate::report::json::{Finding, Findings, Range, Severity};
use crate::text::printable;

/// Returns the lines: `FILE:LINE:COLUMN: error[CODE]: MESSAGE; HELP`. A further place has no help.
pub(crate) fn draw(findings: &Findings) -> String {
    let mut text: String = findings.diagnostics.iter().map(line).collect();
    if findings.omitted > 0 {
        text.push_str(&format!("{} more findings are not listed\n", findings.omitted));
    }
    text
}

fn line(finding: &Finding) -> String {
    let place = &finding.place;
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let help = finding.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
    let message = finding.placed_message();
    let written = |place: &Range, words: &str| {
        let Range { file, line, column, .. } = place;
        printable(&format!("{file}:{line}:{column}: {severity}[{}]: {words}", finding.code)) + "\n"
    };
    let others = finding
        .others
        .iter()
        .map(|other| written(&other.place, other.message.as_deref().unwrap_or_default()));
    written(place, &format!("{message}{help}")) + &others.collect::<String>()
}
