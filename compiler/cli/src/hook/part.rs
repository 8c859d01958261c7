//! A file of a client with relay's part in it.

use std::path::{Path, PathBuf};

use super::command_line::Found;
use super::merge::JsonPart;
use super::own_file::OwnFile;
use super::requirements::Requirements;

/// A file of a client with relay's part in it.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// The path.
    pub(crate) path: PathBuf,
    /// The part of relay.
    pub(crate) contents: Contents,
}

/// The part of relay in a file.
#[derive(Debug, Clone)]
pub(crate) enum Contents {
    /// Entries among others.
    Json(JsonPart),
    /// Codex's requirements.
    Toml(Requirements),
    /// All of the file.
    Own(OwnFile),
}

/// How a client starts the hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Start {
    /// By a command line of the file.
    Line(Found),
    /// By running the file itself.
    Script(PathBuf),
    /// By loading the file as a plugin.
    Plugin(PathBuf),
}

impl Part {
    /// Returns the text of the file with relay's part; the error is the reason why it cannot be.
    pub(crate) fn installed(&self, old: Option<&str>) -> Result<String, String> {
        match &self.contents {
            Contents::Json(part) => part.installed(old).map_err(|error| error.to_string()),
            Contents::Toml(part) => part.installed(old),
            Contents::Own(file) => file.installed(old),
        }
    }

    /// Returns the text of the file with relay's part taken out; `None` if the rest is empty.
    pub(crate) fn removed(&self, old: &str) -> Result<Option<String>, String> {
        match &self.contents {
            Contents::Json(part) => part.removed(old).map_err(|error| error.to_string()),
            Contents::Toml(part) => part.removed(old),
            Contents::Own(_) => Ok(None),
        }
    }

    /// Returns relay's command lines in a text, by the names of their events.
    pub(crate) fn own(&self, text: &str) -> Result<Vec<(String, Found)>, String> {
        match &self.contents {
            Contents::Json(part) => part.own(text).map_err(|error| error.to_string()),
            Contents::Toml(part) => part.own(text),
            Contents::Own(file) => Ok(file.own(text).into_iter().collect()),
        }
    }

    /// Returns the number of hooks of others that run beside relay's before a tool.
    pub(crate) fn others(&self, text: &str, event: &str) -> usize {
        match &self.contents {
            Contents::Json(part) => part.others(text, event).unwrap_or(0),
            Contents::Toml(_) | Contents::Own(_) => 0,
        }
    }

    /// Returns how the client starts the hook of an event; `None` if the text has none.
    pub(crate) fn start(&self, text: &str, event: &str) -> Result<Option<Start>, String> {
        let own = self.own(text)?;
        let found = own.into_iter().find(|(name, _)| name == event);
        Ok(found.map(|(_, found)| match &self.contents {
            Contents::Json(_) | Contents::Toml(_) => Start::Line(found),
            Contents::Own(OwnFile { is_program: true, .. }) => Start::Script(self.path.clone()),
            Contents::Own(_) => Start::Plugin(self.path.clone()),
        }))
    }

    /// Returns whether the file is a program.
    pub(crate) fn is_program(&self) -> bool {
        matches!(&self.contents, Contents::Own(OwnFile { is_program: true, .. }))
    }

    /// Returns the path of the copy of the file before relay's part came in.
    pub(crate) fn backup(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(".relay-backup");
        PathBuf::from(name)
    }
}
