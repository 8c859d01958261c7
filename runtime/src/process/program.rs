//! The program of a command: the shell that reads it, or the program itself.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::environment::PATH;

/// The most bytes of a text that the kernel takes as one argument.
const ARGUMENT_BYTES_MAX: usize = 128 * 1024 - 1;

/// A command as a program with its arguments, its own name first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) words: Vec<String>,
    /// The text on its standard input.
    pub(crate) input: String,
}

/// The program that reads a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interpreter {
    Bash,
    Sh,
    Python,
}

impl Interpreter {
    /// Returns the interpreter of a name; `None` for others.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "bash" => Some(Self::Bash),
            "sh" => Some(Self::Sh),
            "python" | "python3" | "py" => Some(Self::Python),
            _ => None,
        }
    }

    /// Returns the lines before a script that stops at the first error.
    pub(crate) fn strict(self) -> &'static str {
        match self {
            Self::Bash => "set -euo pipefail\n",
            Self::Sh => "set -eu\n",
            Self::Python => "",
        }
    }

    /// Returns the command that runs a text. The text is an argument, so that its commands read an
    /// empty input; only a text too long for that is itself the input.
    pub(crate) fn command(self, text: String, input: String) -> Command {
        // `-p` makes bash ignore functions and settings of its environment.
        let (first, inline, piped): (&[&str], &str, &str) = match self {
            Self::Bash => (&["bash", "--norc", "--noprofile", "-p"], "-c", "-s"),
            Self::Sh => (&["sh"], "-c", "-s"),
            Self::Python => (&["python3"], "-c", "-"),
        };
        let mut words: Vec<String> = first.iter().map(|word| (*word).to_owned()).collect();
        if text.len() <= ARGUMENT_BYTES_MAX || !input.is_empty() {
            words.extend([inline.to_owned(), text]);
            return Command { words, input };
        }
        words.push(piped.to_owned());
        Command { words, input: text }
    }
}

/// Returns the path of a program: itself if it has a `/`, relative to the folder of the process, or the
/// first that can be executed in the `PATH` of its variables, or of the system if they have none.
pub(crate) fn locate(
    name: &str,
    folder: &Path,
    variables: &[(OsString, OsString)],
) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(folder.join(name));
    }
    let path = variables.iter().find(|(known, _)| known == OsStr::new("PATH"));
    let folders = path.map_or(OsStr::new(PATH), |(_, folders)| folders);
    let mut found = env::split_paths(folders).map(|place| folder.join(place).join(name));
    found.find(|path| {
        path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    })
}
