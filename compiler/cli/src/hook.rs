//! Clients' own files: how each client is made to run `relay-hook` before its tools.
//!
//! A client is a file here: its files, its entries, the calls that it leaves open, and its events for a trial.
//! How its events are read and answered is the library `relay_hook`, which is asked for all that it
//! knows of clients already.

mod backup;
mod claude_code;
mod cline;
mod codex;
mod command_line;
mod copilot;
mod cursor;
mod file;
mod gemini;
mod json_text;
mod machine;
mod merge;
mod opencode;
mod own_file;
mod part;
mod place;
mod program;
mod requirements;
mod sample;
mod switch;
mod target;
mod version;
mod vscode;
mod windsurf;

use crate::failure::Failure;

pub(crate) use backup::restored;
pub(crate) use command_line::{Found, PROGRAM};
pub(crate) use file::{Change, read};
pub(crate) use machine::{
    MachineChange, Wanted, is_own as is_own_machine_file, path as machine_path,
};
pub(crate) use part::{Part, Start};
pub(crate) use place::{Place, Scope};
pub(crate) use program::hook_program;
pub(crate) use sample::{Answered, Kind, Reading, SESSION, Sample};
pub(crate) use switch::switched_off;
pub(crate) use target::{Setup, Target};
pub(crate) use version::Version;

use target::TIMEOUT_S;

/// All clients, in the order of `relay_hook`.
pub(crate) const TARGETS: [&Target; 9] = [
    &claude_code::TARGET,
    &codex::TARGET,
    &cursor::TARGET,
    &gemini::TARGET,
    &copilot::TARGET,
    &vscode::TARGET,
    &opencode::TARGET,
    &cline::TARGET,
    &windsurf::TARGET,
];

/// Returns the target of a client, whose name the grammar has checked.
pub(crate) fn target(name: &str) -> Result<&'static Target, Failure> {
    let found = TARGETS.into_iter().find(|target| target.name == name);
    found.ok_or_else(|| Failure::error(format!("unknown client `{name}`")))
}

#[cfg(test)]
mod tests {
    use super::TARGETS;

    #[test]
    fn every_client_can_be_installed() {
        let targets: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        let clients: Vec<&str> = relay_hook::CLIENTS.iter().map(|client| client.name).collect();
        assert_eq!(targets, clients);
    }
}
