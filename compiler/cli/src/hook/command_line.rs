//! The command line of `relay-hook` in a client's file: how it is written, and how it is found again.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::shell;

/// The program.
pub(crate) const PROGRAM: &str = "relay-hook";
/// The option for the machine file.
const CONFIG: &str = "--config";

/// Runs `relay-hook` and denies if it ends in any other way than with an answer.
///
/// Most clients take exit codes other than 0 and 2 for a hook that failed, and run the call. A denial
/// of `relay-hook` itself passes through.
const CLOSED: &str =
    r#""$0" "$@" || { [ $? -eq 2 ] || echo "[DENIED: relay-hook did not answer]" >&2; exit 2; }"#;

/// A command line: the program, the client and the machine file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandLine {
    /// The absolute path of `relay-hook`.
    pub(crate) program: PathBuf,
    /// The client.
    pub(crate) client: &'static str,
    /// The absolute path of the machine file.
    pub(crate) config: PathBuf,
}

/// A command line that was found in a client's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// A program and its arguments, which the client starts itself.
    Exec(Vec<String>),
    /// A text for a shell.
    Shell(String),
}

impl CommandLine {
    /// Returns the arguments of the program.
    pub(crate) fn arguments(&self) -> [String; 3] {
        [self.client.to_owned(), CONFIG.to_owned(), text(&self.config)]
    }

    /// Returns the path of the program as text.
    pub(crate) fn program_text(&self) -> String {
        text(&self.program)
    }

    /// Returns the command line for a client that closes on every failure itself.
    pub(crate) fn plain(&self) -> String {
        let words = [self.program_text()].into_iter().chain(self.arguments());
        words.map(|word| shell::word(&word)).collect::<Vec<_>>().join(" ")
    }

    /// Returns the command line for a shell, which denies on every end but an answer.
    ///
    /// Some clients use the shell of the person, which may be another one than a POSIX shell.
    pub(crate) fn closed(&self) -> String {
        format!("/bin/sh -c '{CLOSED}' {}", self.plain())
    }
}

impl Found {
    /// Returns the command line of a hook in JSON, by the members that clients use for it.
    pub(crate) fn of(hook: &Value) -> Option<Self> {
        let text = |name: &str| hook.get(name).and_then(Value::as_str);
        let command = text("command").or_else(|| text("bash"))?;
        match hook.get("args").and_then(Value::as_array) {
            Some(arguments) => {
                let arguments = arguments.iter().map(|word| Some(word.as_str()?.to_owned()));
                let words: Option<Vec<String>> =
                    std::iter::once(Some(command.to_owned())).chain(arguments).collect();
                words.map(Self::Exec)
            }
            None => Some(Self::Shell(command.to_owned())),
        }
    }

    /// Returns its words.
    fn words(&self) -> Vec<String> {
        match self {
            Self::Exec(words) => words.clone(),
            Self::Shell(text) => shlex::split(text).unwrap_or_default(),
        }
    }

    /// Returns whether it runs relay for one of these clients.
    pub(crate) fn is_own(&self, clients: &[&str]) -> bool {
        self.client().is_some_and(|client| clients.contains(&client.as_str()))
    }

    /// Returns the client that it names, if it runs relay.
    fn client(&self) -> Option<String> {
        let words = self.words();
        let name = |word: &str| Path::new(word).file_name().map(|name| name.to_os_string());
        words.iter().enumerate().find_map(|(at, word)| {
            let next = words.get(at + 1)?;
            match name(word)?.to_str()? {
                PROGRAM => Some(next.clone()),
                "relay" if next == "hook" => words.get(at + 2).cloned(),
                _ => None,
            }
        })
    }

    /// Returns the machine file that it names.
    pub(crate) fn config(&self) -> Option<PathBuf> {
        let words = self.words();
        let at = words.iter().position(|word| word == CONFIG)?;
        words.get(at + 1).map(PathBuf::from)
    }

    /// Returns the path of `relay-hook` that it runs.
    pub(crate) fn program(&self) -> Option<PathBuf> {
        let words = self.words();
        let is_program =
            |word: &&String| Path::new(word).file_name().is_some_and(|name| name == PROGRAM);
        words.iter().find(is_program).map(PathBuf::from)
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_form_is_found_again() {
        let line = CommandLine {
            program: "/opt/my tools/relay-hook".into(),
            client: "codex",
            config: "/home/a'b/hook.toml".into(),
        };
        let forms = [
            json!({ "command": line.plain() }),
            json!({ "bash": line.closed() }),
            json!({ "command": line.program_text(), "args": line.arguments() }),
        ];
        for form in forms {
            let found = Found::of(&form).expect("a command line");
            assert!(found.is_own(&["codex"]) && !found.is_own(&["gemini"]), "{form}");
            assert_eq!(found.config(), Some(line.config.clone()), "{form}");
            assert_eq!(found.program(), Some(line.program.clone()), "{form}");
        }
    }

    #[test]
    fn other_commands_are_left_alone() {
        for command in ["relay-hooks codex", "echo relay-hook", "relay serve x", "prettier \"", ""]
        {
            let found = Found::of(&json!({ "command": command })).expect("a command");
            assert!(!found.is_own(&["codex"]), "{command}");
        }
        let found = Found::of(&json!({ "command": "relay hook codex" })).expect("a command");
        assert!(found.is_own(&["codex"]));
    }
}
