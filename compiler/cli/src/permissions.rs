//! The static rules of clients: their settings files as a policy, and a policy as their settings files.
//!
//! One file a client reads its files to `model`, and writes them. `translate` makes parts of a policy, `settle` compiles them
//! before they are written, `kdl` writes them. Both directions have one report.

mod claude_code;
mod codex;
mod commands;
mod cursor;
mod decider;
mod entry;
mod export;
mod from_policy;
mod gemini;
mod json;
mod kdl;
mod model;
mod node;
mod paths;
mod regex;
mod relay_shell;
mod report;
mod settle;
mod source;
mod starlark;
mod toml_lines;
mod translate;
mod vscode;

use crate::args::Client;
use crate::failure::Failure;

pub(crate) use export::{For, export};
pub(crate) use model::ClientRules;
pub(crate) use report::{RuleRow, draw};
pub(crate) use settle::{Settled, settle};
pub(crate) use source::{Folders, RULES_MAX};

/// Reads the rules of a client; `None` if it has no files here.
///
/// # Errors
///
/// A file cannot be read or understood, or there are too many rules.
pub(crate) fn read(client: Client, folders: &Folders) -> Result<Option<ClientRules>, Failure> {
    let read = match client {
        Client::ClaudeCode => claude_code::read(folders)?,
        Client::Codex => codex::read(folders)?,
        Client::Cursor => cursor::read(folders)?,
        Client::Gemini => gemini::read(folders)?,
        Client::Vscode => vscode::read(folders)?,
        Client::RelayShell => relay_shell::read(folders)?,
    };
    if read.as_ref().is_some_and(|rules| rules.rules.len() > RULES_MAX) {
        return Err(Failure::no(format!("there are more than {RULES_MAX} rules")));
    }
    Ok(read)
}

/// Returns the clients that have rules in a folder.
pub(crate) fn present(folder: &std::path::Path) -> Vec<Client> {
    let folders = Folders { project: folder.to_owned(), file: None, home: None, system: None };
    let has_rules = |client: &Client| match read(*client, &folders) {
        Ok(rules) => rules.is_some_and(|rules| !rules.rules.is_empty()),
        // Why it cannot be read is said by its own import.
        Err(_) => true,
    };
    Client::ALL.into_iter().filter(has_rules).collect()
}
