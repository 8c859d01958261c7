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
mod opencode;
mod vscode;
mod windsurf;

use serde_json::{Map, Value};

use crate::answer::{Answer, Output};
use crate::event::{Event, EventError};
use crate::tool::Tool;

/// A client: how its events are read and answered.
pub struct Client {
    /// Its name in arguments and records.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The version that its tools were taken from.
    pub version: &'static str,
    /// Its own tools.
    pub tools: &'static [Tool],
    /// The most characters of a text for the model.
    pub(crate) context_chars_max: usize,
    /// Returns whether a payload is of this client.
    pub(crate) fits: fn(&Map<String, Value>) -> bool,
    /// Reads an event.
    pub(crate) read: for<'e> fn(&'e Map<String, Value>) -> Result<Event<'e>, EventError>,
    /// Returns whether the client asks a person when it is told to at this event.
    pub(crate) asks: fn(&Event<'_>) -> bool,
    /// Writes an answer.
    pub(crate) answer: fn(&Event<'_>, &Answer) -> Output,
    /// Writes a denial of an event that was not read.
    pub(crate) refusal: fn(&str) -> Output,
    /// Returns the servers and tools that the name of a tool may mean, as `server/tool`.
    pub(crate) server_tools: fn(&str) -> Vec<String>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

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

/// Returns what a name between two marks may mean: `a__b__c` is `a/b__c` or `a__b/c`.
fn at_each(name: &str, mark: &str) -> Vec<String> {
    let places = name.match_indices(mark).take(SPLITS_MAX);
    let parts = places.map(|(at, _)| name.split_at(at));
    let full = parts.filter_map(|(server, rest)| {
        let tool = rest.strip_prefix(mark)?;
        (!server.is_empty() && !tool.is_empty()).then(|| format!("{server}/{tool}"))
    });
    full.collect()
}

/// The most places at which the name of a tool is split.
const SPLITS_MAX: usize = 8;
