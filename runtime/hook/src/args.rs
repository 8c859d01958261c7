//! The arguments of `relay-hook`.

use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::{Arg, Parser, ValueExt as _};

use crate::client::{CLIENTS, Client, find};

pub(crate) const HELP: &str = "\
Answers one event of a client's hook: reads it on standard input, writes the answer in the client's form

Usage: relay-hook CLIENT [--config FILE]

Arguments:
  CLIENT           claude-code, codex, cursor, gemini, copilot, vscode, opencode, cline or windsurf

Options:
      --config FILE  The machine file, unless /etc/relay/hook.toml exists
      --version      Print the version
  -h, --help         Print this text

Exit codes: 0 no objection or a question, 2 denied. `relay hook install CLIENT` makes a client run it.";

/// The command.
#[derive(Debug)]
pub(crate) enum Command {
    Help,
    Version,
    /// Answer an event.
    Answer {
        client: &'static Client,
        config: Option<PathBuf>,
    },
}

/// Reads the arguments; the error names the fault.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, String> {
    let mut parser = Parser::from_args(arguments);
    let (mut client, mut config) = (None, None);
    let text = |error: lexopt::Error| error.to_string();
    while let Some(argument) = parser.next().map_err(text)? {
        match argument {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help),
            Arg::Long("version") => return Ok(Command::Version),
            Arg::Long("config") if config.is_none() => {
                config = Some(PathBuf::from(parser.value().map_err(text)?));
            }
            Arg::Value(name) if client.is_none() => {
                let name = name.string().map_err(text)?;
                client = Some(find(&name).ok_or_else(|| unknown(&name))?);
            }
            other => return Err(other.unexpected().to_string()),
        }
    }
    let client = client.ok_or_else(|| format!("no client is named: {}", names()))?;
    Ok(Command::Answer { client, config })
}

fn unknown(name: &str) -> String {
    let name: String = name.chars().filter(|letter| !letter.is_control()).take(40).collect();
    format!("`{name}` is no client: {}", names())
}

fn names() -> String {
    let names: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
    format!("write one of {}", names.join(", "))
}
