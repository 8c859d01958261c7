//! Workflow commands of GitHub Actions, which annotate the lines of a pull request.

use std::fmt::Write as _;

use crate::level::Level;
use crate::text::{printable, printable_lines};

/// One annotation.
pub(crate) struct Annotation<'a> {
    /// Its gravity.
    pub(crate) level: Level,
    /// Its place; `None` is the run as a whole.
    pub(crate) place: Option<Lines<'a>>,
    /// Its title.
    pub(crate) title: &'a str,
    /// Its text, of any number of lines.
    pub(crate) message: &'a str,
}

/// Lines of a file.
pub(crate) struct Lines<'a> {
    /// The path for its reader.
    pub(crate) file: &'a str,
    /// The first line, from 1, and the last.
    pub(crate) lines: (u32, u32),
    /// The columns of the first and the last character, of a range within one line.
    pub(crate) columns: Option<(u32, u32)>,
}

impl Annotation<'_> {
    /// Returns the command: one line, for any texts.
    pub(crate) fn command(&self) -> String {
        let Self { level, place, title, message } = self;
        let mut properties = Vec::new();
        if let Some(Lines { file, lines: (first, last), columns }) = place {
            properties
                .push(format!("file={},line={first},endLine={last}", property(&printable(file))));
            // GitHub accepts columns only for ranges within one line.
            if let Some((first, last)) = columns {
                properties.push(format!("col={first},endColumn={last}"));
            }
        }
        if !title.is_empty() {
            properties.push(format!("title={}", property(&printable(title))));
        }
        let mut command = format!("::{}", level.command());
        if !properties.is_empty() {
            let _ = write!(command, " {}", properties.join(","));
        }
        let _ = writeln!(command, "::{}", data(&printable_lines(message)));
        command
    }
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
