//! The report with a finding on each line, for editors and `grep`.

use crate::report::json::{Finding, Findings, Severity};
use crate::text::printable;

/// Returns the lines: `FILE:LINE:COLUMN: error[CODE]: MESSAGE; HELP`.
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
    let written = format!(
        "{}:{}:{}: {severity}[{}]: {message}{help}",
        place.file, place.line, place.column, finding.code
    );
    printable(&written) + "\n"
}
