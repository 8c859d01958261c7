//! Tables of scheduled jobs, in the format of `crontab`.

use super::finding::{Finding, What};

/// The number of time fields at the start of a line.
const WHEN_FIELDS: usize = 5;

/// Returns the commands of a table.
pub(crate) fn findings(text: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if let Some((from, to)) = command(line) {
            findings.push(Finding::new(start + from, start + to, What::Shell));
        }
        start += line.len();
    }
    findings
}

/// Returns the range of the command of a line: up to a `%`, after which its standard input follows.
fn command(line: &[u8]) -> Option<(usize, usize)> {
    let mut at = blanks(line, 0);
    match line.get(at)? {
        b'#' => return None,
        // The time is a name such as `@daily` or `@reboot`.
        b'@' => at = field(line, at),
        _ => {
            for _ in 0..WHEN_FIELDS {
                at = field(line, at);
            }
        }
    }
    let rest = line.get(at..)?;
    let is_end = |(index, byte): (usize, &u8)| {
        *byte == b'%' && index.checked_sub(1).and_then(|before| rest.get(before)) != Some(&b'\\')
    };
    let length = rest.iter().enumerate().position(is_end).unwrap_or(rest.len());
    (length > 0).then_some((at, at + length))
}

/// Returns the start of the next field.
fn field(line: &[u8], at: usize) -> usize {
    let rest = line.get(at..).unwrap_or(&[]);
    blanks(line, at + rest.iter().take_while(|byte| !byte.is_ascii_whitespace()).count())
}

/// Returns the end of the blanks.
fn blanks(line: &[u8], at: usize) -> usize {
    let rest = line.get(at..).unwrap_or(&[]);
    at + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}
