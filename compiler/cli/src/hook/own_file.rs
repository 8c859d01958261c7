//! A file that is relay's from the first to the last line: a plugin or a program.

use super::command_line::{CommandLine, Found};

/// The line that names the command line, so that it is found again.
const MARK: &str = "relay-hook: ";

/// A file that is relay's own.
#[derive(Debug, Clone)]
pub(crate) struct OwnFile {
    /// The text.
    pub(crate) text: String,
    /// Whether it is run as a program.
    pub(crate) is_program: bool,
    /// The clients whose file it is.
    pub(crate) clients: &'static [&'static str],
    /// The event that it is for.
    pub(crate) event: &'static str,
}

impl OwnFile {
    /// Returns a text whose line `MARK` holds the command line, after a comment sign.
    pub(super) fn marked(text: &str, line: &CommandLine) -> String {
        text.replace("MARK", &format!("{MARK}{}", line.plain()))
    }

    /// Returns the text of the file.
    pub(super) fn installed(&self, old: Option<&str>) -> Result<String, String> {
        match old {
            Some(old) if !old.trim().is_empty() && self.own(old).is_none() => {
                Err("it is not relay's, and the client reads one file of this name: move it away, or call both from one file".to_owned())
            }
            _ => Ok(self.text.clone()),
        }
    }

    /// Returns relay's command line in a text.
    pub(super) fn own(&self, text: &str) -> Option<(String, Found)> {
        let line = text.lines().find_map(|line| line.split_once(MARK))?.1;
        let found = Found::Shell(line.to_owned());
        found.is_own(self.clients).then(|| (self.event.to_owned(), found))
    }
}
