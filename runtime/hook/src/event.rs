//! An event of a client's hook, without its dialect; and the client, which reads and answers it.

use serde_json::{Map, Value};

use crate::answer::{Answer, Output};
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
    /// Writes a denial of an unread event.
    pub(crate) refusal: fn(&str) -> Output,
    /// Returns the servers and tools that the name of a tool may mean, as `server/tool`.
    pub(crate) server_tools: fn(&str) -> Vec<String>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// An event of a client's hook.
#[derive(Debug, Clone)]
pub(crate) struct Event<'e> {
    /// The client whose dialect it is in.
    pub(crate) client: &'static Client,
    /// Its name, as the client spells it; empty if the client does not say it.
    pub(crate) name: &'e str,
    /// Its moment.
    pub(crate) moment: Moment<'e>,
    /// The folder of the client or of the call.
    pub(crate) cwd: Option<&'e str>,
    /// The id of the session.
    pub(crate) session: Option<&'e str>,
    /// The mode of the client's own permissions.
    pub(crate) mode: Option<&'e str>,
    /// The version of the client.
    pub(crate) version: Option<&'e str>,
    /// The id of the call.
    pub(crate) call_id: Option<&'e str>,
}

/// The moment of an event.
#[derive(Debug, Clone)]
pub(crate) enum Moment<'e> {
    /// A tool is about to run.
    BeforeTool(ToolCall<'e>),
    /// The client is about to ask a person about a tool.
    Permission(ToolCall<'e>),
    /// A tool has run.
    AfterTool(ToolCall<'e>),
    /// A session begins.
    SessionStart,
    /// The client's settings have changed: the file, and the kind of settings in it.
    Settings { file: Option<&'e str>, source: Option<&'e str> },
    /// An event that relay has nothing to say about.
    Other,
}

/// A call of a client's tool, as the client sends it.
#[derive(Debug, Clone)]
pub(crate) struct ToolCall<'e> {
    /// The name of the tool.
    pub(crate) name: &'e str,
    /// Its arguments.
    pub(crate) input: std::borrow::Cow<'e, Map<String, Value>>,
    /// The server and the tool, if the event says that an MCP server has it.
    pub(crate) server: Option<(String, String)>,
}

/// The reason for refusing an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EventError {
    /// A member is missing.
    #[error("the event has no `{0}`")]
    Missing(&'static str),
    /// A member has another type than the client gives it.
    #[error("`{0}` of the event has another type than this client gives it")]
    Type(&'static str),
    /// Two members say the same in two spellings.
    #[error("the event has both `{0}` and `{1}`")]
    Twice(&'static str, &'static str),
}

/// Returns a text of an object; `None` if it is missing.
///
/// # Errors
///
/// It is another value than a text.
pub(crate) fn text<'e>(
    object: &'e Map<String, Value>,
    name: &'static str,
) -> Result<Option<&'e str>, EventError> {
    match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(EventError::Type(name)),
    }
}

/// Returns a text that has two spellings.
///
/// # Errors
///
/// It is another value than a text, or both are given.
pub(crate) fn either<'e>(
    object: &'e Map<String, Value>,
    one: &'static str,
    other: &'static str,
) -> Result<Option<&'e str>, EventError> {
    match (text(object, one)?, text(object, other)?) {
        (Some(_), Some(_)) => Err(EventError::Twice(one, other)),
        (one, other) => Ok(one.or(other)),
    }
}

/// Returns a text that must be there.
///
/// # Errors
///
/// It is missing, or another value than a text.
pub(crate) fn required<'e>(
    object: &'e Map<String, Value>,
    name: &'static str,
) -> Result<&'e str, EventError> {
    text(object, name)?.ok_or(EventError::Missing(name))
}

/// Returns an object that must be there.
///
/// # Errors
///
/// It is missing, or another value than an object.
pub(crate) fn object<'e>(
    object: &'e Map<String, Value>,
    name: &'static str,
) -> Result<&'e Map<String, Value>, EventError> {
    match object.get(name) {
        Some(Value::Object(inner)) => Ok(inner),
        Some(_) => Err(EventError::Type(name)),
        None => Err(EventError::Missing(name)),
    }
}
