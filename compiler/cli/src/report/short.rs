//! The report with a finding, or a further place of one, on each line, as editors and `grep` read it.

use crate::report::json::{Finding, Findings, Range, Severity};
use crate::text::printable;

/// Returns the lines: `FILE:LINE:COLUMN: error[CODE]: MESSAGE; HELP`. A finding that is joined to an earlier one
/// in reports for people has no help.
pub(crate) fn draw(findings: &Findings) -> String {
    let mut text: String = findings.diagnostics.iter().map(line).collect();
    if findings.omitted > 0 {
        text.push_str(&format!("{} more findings are not listed\n", findings.omitted));
    }
    text
}

fn line(finding: &Finding) -> String {
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let help = finding.help.as_ref().filter(|_| finding.joined_to.is_none());
    let help = help.map(|help| format!("; {help}")).unwrap_or_default();
    let Range { file, line, column, .. } = &finding.place;
    let (code, message) = (&finding.code, finding.placed_message());
    printable(&format!("{file}:{line}:{column}: {severity}[{code}]: {message}{help}")) + "\n"
}
