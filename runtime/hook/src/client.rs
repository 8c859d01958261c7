//! The clients: a file each, with its events, its answers and its tools.
//!
//! The dialect of an event is that of its payload: clients run hooks that were installed for another,
//! and an answer in the wrong dialect is no denial for them.

mod claude_code;
mod cline;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod names;
mod opencode;
mod vscode;
mod windsurf;

use serde_json::{Map, Value};

pub use crate::event::Client;

use names::at_each;

/// All clients.
pub const CLIENTS: [&Client; 9] = [
    &claude_code::CLIENT,
    &codex::CLIENT,
    &cursor::CLIENT,
    &gemini::CLIENT,
    &copilot::CLIENT,
    &vscode::CLIENT,
    &opencode::CLIENT,
    &cline::CLIENT,
    &windsurf::CLIENT,
];

/// Returns the client of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Client> {
    CLIENTS.into_iter().find(|client| client.name == name)
}

/// Returns the client of a payload: the one that the hook is installed for, if the payload may be its
/// own; else the only one that it may be of.
pub(crate) fn of_payload(
    payload: &Map<String, Value>,
    installed: &'static Client,
) -> Option<&'static Client> {
    if (installed.fits)(payload) {
        return Some(installed);
    }
    CLIENTS.into_iter().find(|client| (client.fits)(payload))
}
