//! A call of a client's tool -> the requests that the policy decides.
//!
//! A tool of the client's own has the effects of its row. A tool of an MCP server is decided by its
//! name and its arguments, as the server's door decides it. Where a name may mean several tools, each
//! is a request, and the strictest decision counts.

use std::path::PathBuf;

use relay_bundle::Selector;
use relay_engine::decide::ClientTool;
use relay_engine::tool::SHELL;
use relay_policy::tier::Floor;
use serde_json::{Map, Value};

use crate::client::Client;
use crate::event::{Event, ToolCall};
use crate::machine_file::Machine;
use crate::patch;
use crate::path::{Base, folded};
use crate::tool::{Does, Tool};

/// The tool that types into a program, as rules name it.
const TYPES: &str = "session_send";
/// The members of an object that hold a path.
const PATH_MEMBERS: [&str; 4] = ["path", "filePath", "file_path", "absolute_path"];
/// The most ways to read a sanitized name.
const UNSANITIZED_MAX: usize = 64;

/// A request that the policy decides.
#[derive(Debug)]
pub(crate) struct Request {
    /// The tool, as rules name it.
    pub(crate) tool: String,
    /// Its arguments.
    pub(crate) arguments: Map<String, Value>,
    /// The effects of a client's own tool; `None` for a tool of an MCP server.
    pub(crate) own: Option<ClientTool>,
}

/// The requests of a call.
#[derive(Debug)]
pub(crate) struct Requests {
    /// Of which the strictest decision counts.
    pub(crate) all: Vec<Request>,
    /// The tool in the client's table.
    pub(crate) known: Option<&'static Tool>,
    /// Whether an MCP server has it.
    pub(crate) is_of_server: bool,
    /// Where its paths begin.
    pub(crate) base: Base,
}

impl Requests {
    /// Returns all that is decided, as one text: equal calls have equal texts.
    pub(crate) fn text(&self) -> String {
        self.all.iter().map(|request| format!("{request:?}\n")).collect()
    }
}

/// Returns the requests of a call.
pub(crate) fn requests(
    event: &Event<'_>,
    call: &ToolCall<'_>,
    machine: &Machine,
    base: Base,
) -> Requests {
    let client = event.client;
    let known = client.tools.iter().find(|tool| tool.name == call.name);
    if let Some((server, tool)) = &call.server {
        let all = vec![of_server(server, tool, call, machine)];
        return Requests { all, known: None, is_of_server: true, base };
    }
    if let Some(tool) = known {
        let (request, base) = own(tool.does, call, base);
        return Requests { all: vec![request], known, is_of_server: false, base };
    }
    let mut all: Vec<Request> = servers(client, call.name)
        .iter()
        .filter_map(|name| name.split_once('/'))
        .map(|(server, tool)| of_server(server, tool, call, machine))
        .collect();
    let is_of_server = !all.is_empty();
    if all.is_empty() {
        let doubt =
            (Floor::UnknownTool, "this tool of the client is not in the table of its tools");
        let own = ClientTool { effects: Vec::new(), doubts: vec![doubt] };
        let arguments = call.input.clone().into_owned();
        all.push(Request { tool: call.name.to_owned(), arguments, own: Some(own) });
    }
    Requests { all, known: None, is_of_server, base }
}

/// Returns the servers and tools that a name may mean.
fn servers(client: &Client, name: &str) -> Vec<String> {
    let mut all = (client.server_tools)(name);
    // Codex writes an underscore for each character that its model API does not take.
    if client.name == "codex" {
        all = all.iter().flat_map(|name| unsanitized(name)).collect();
    }
    all
}

/// Returns the names that are spelled like this one once `-` and `.` are underscores.
fn unsanitized(name: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for letter in name.chars() {
        let readings: &[char] = if letter == '_' { &['_', '-'] } else { &[letter] };
        // Beyond the limit one reading remains of each letter; the others are those of all letters.
        let readings = if all.len() * readings.len() > UNSANITIZED_MAX {
            readings.get(..1).unwrap_or_default()
        } else {
            readings
        };
        all = all
            .iter()
            .flat_map(|start| readings.iter().map(move |letter| format!("{start}{letter}")))
            .collect();
    }
    for letter in ["-", "."] {
        let other = name.replace('_', letter);
        if !all.contains(&other) {
            all.push(other);
        }
    }
    all
}

fn of_server(server: &str, tool: &str, call: &ToolCall<'_>, machine: &Machine) -> Request {
    let is_relay = machine.file.relay_servers.iter().any(|name| name == server);
    let name = if is_relay { tool.to_owned() } else { format!("{server}/{tool}") };
    Request { tool: name, arguments: call.input.clone().into_owned(), own: None }
}

/// Returns the request of a client's own tool, and where its paths begin.
fn own(does: Does, call: &ToolCall<'_>, mut base: Base) -> (Request, Base) {
    let mut client = ClientTool::default();
    let mut tool = call.name.to_owned();
    let mut arguments = call.input.clone().into_owned();
    let lacks = (Floor::UnknownTool, "an argument is missing or has another type");
    match does {
        Does::Runs(text, cwd) => {
            tool = SHELL.to_owned();
            let command = texts(call.input.get(text));
            if command.is_empty() {
                client.doubts.push(lacks);
            }
            arguments = Map::from_iter([("command".to_owned(), command.join("\n").into())]);
            if let Some(Value::String(cwd)) = cwd.and_then(|cwd| call.input.get(cwd)) {
                let folder = base.cwd.clone().unwrap_or_else(|| PathBuf::from("/"));
                base.cwd = Some(folded(&folder.join(cwd)));
            }
        }
        Does::Types(text) => {
            tool = TYPES.to_owned();
            let typed = texts(call.input.get(text));
            if typed.is_empty() {
                client.doubts.push(lacks);
            }
            arguments = Map::from_iter([("data".to_owned(), typed.join("\n").into())]);
        }
        Does::Touches(effect, names) => {
            let paths = paths(call, names);
            if paths.is_empty() {
                client.effects.push((effect, None));
            }
            for path in paths {
                let forms = base.forms(&path).into_iter();
                client.effects.extend(forms.map(|form| (effect, Some(form))));
            }
        }
        Does::Searches(names) => {
            let mut paths = paths(call, names);
            if paths.is_empty() {
                paths.push(".".to_owned());
            }
            for path in paths {
                let forms = base.forms(&path).into_iter();
                client.effects.extend(forms.map(|form| (Selector::Reads, Some(form))));
            }
        }
        Does::Patches(text) => {
            let patch = texts(call.input.get(text)).join("\n");
            match patch::effects(&patch) {
                Some(effects) => {
                    for (effect, path) in effects {
                        let forms = base.forms(&path).into_iter();
                        client.effects.extend(forms.map(|form| (effect, Some(form))));
                    }
                }
                None => client.doubts.push((Floor::Unparsed, "the patch is not understood")),
            }
        }
        Does::Fetches(url) => {
            let urls = texts(call.input.get(url));
            match urls.as_slice() {
                [url] => client.effects.push((Selector::Connects, Some(url.clone()))),
                _ => client.effects.push((Selector::Connects, None)),
            }
        }
        Does::FetchesAll(text) => {
            let text = texts(call.input.get(text)).join(" ");
            let urls = urls(&text);
            if urls.is_empty() {
                client.effects.push((Selector::Connects, None));
            }
            client.effects.extend(urls.into_iter().map(|url| (Selector::Connects, Some(url))));
        }
        Does::Nothing => {}
    }
    (Request { tool, arguments, own: Some(client) }, base)
}

/// Returns the texts of an argument: a text, or a list of texts; none if it is anything else.
fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(items)) => {
            let texts: Option<Vec<String>> =
                items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
            texts.unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// Returns the paths of the named arguments; none if one of them holds anything else.
fn paths(call: &ToolCall<'_>, names: &[&str]) -> Vec<String> {
    let mut paths = Vec::new();
    for value in names.iter().filter_map(|name| call.input.get(*name)) {
        match value {
            Value::Null => {}
            Value::String(path) => paths.push(path.clone()),
            Value::Array(items) => {
                for item in items {
                    match path_of(item) {
                        Some(path) => paths.push(path),
                        None => return Vec::new(),
                    }
                }
            }
            _ => return Vec::new(),
        }
    }
    paths
}

fn path_of(item: &Value) -> Option<String> {
    match item {
        Value::String(path) => Some(path.clone()),
        Value::Object(members) => {
            let mut found = PATH_MEMBERS.iter().filter_map(|name| members.get(*name)?.as_str());
            found.next().map(str::to_owned)
        }
        _ => None,
    }
}

/// Returns the addresses in a text for people.
fn urls(text: &str) -> Vec<String> {
    let lower = text.to_ascii_lowercase();
    let mut urls = Vec::new();
    for scheme in ["http://", "https://"] {
        for (at, _) in lower.match_indices(scheme) {
            let rest = text.get(at..).unwrap_or_default();
            let ends = |letter: char| letter.is_whitespace() || "\"'<>()[]{}|`,".contains(letter);
            urls.push(rest.split(ends).next().unwrap_or(rest).to_owned());
        }
    }
    urls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_in_a_text_is_found() {
        let found =
            urls("see HTTPS://a.example/x, (http://b.example) and \"https://c.example/?q\"");
        assert_eq!(found, ["http://b.example", "HTTPS://a.example/x", "https://c.example/?q"]);
        assert!(urls("a.example").is_empty());
    }

    #[test]
    fn a_sanitized_name_has_all_its_readings() {
        let all = unsanitized("demo/db_delete_x");
        for name in ["demo/db_delete_x", "demo/db-delete-x", "demo/db-delete_x", "demo/db.delete.x"]
        {
            assert!(all.iter().any(|it| it == name), "{name}");
        }
        assert!(unsanitized(&"_".repeat(200)).len() <= UNSANITIZED_MAX + 2);
    }
}
