//! One line of the audit log: what was pulled or done, by whom, under which bundle.
//!
//! Bodies are hashed, never written. Texts that a caller typed freely are counted, not written.

use std::collections::BTreeMap;

use relay_bundle::Digest;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::prompt::Value;

/// An argument's value in a record is cut to this many characters.
pub const ARGUMENT_CHARS_MAX: usize = 500;

/// Of a refused call, at most this many arguments are in a record.
const ARGUMENTS_MAX: usize = 64;
/// Of a refused call, an argument with a longer name is not in a record.
const ARGUMENT_NAME_CHARS_MAX: usize = 64;

/// One audit record. Field order is the order in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditRecord<'a> {
    /// When, in RFC 3339 with milliseconds.
    pub ts: String,
    /// What was asked: a tool's name, `prompt:NAME` or `resource:URI`.
    pub tool: String,
    /// The tier of what was asked; reads are 0.
    pub tier: u8,
    /// Whether it was refused.
    pub denied: bool,
    /// The arguments.
    pub args: BTreeMap<&'a str, String>,
    /// SHA-256 of what was answered, as 64 hexadecimal digits.
    pub output_sha256: String,
    /// Bytes of what was answered.
    pub output_len: usize,
    /// The exit code, for commands.
    pub exit_code: Option<i32>,
    /// The JSON-RPC id of the request.
    pub request_id: String,
    /// Who asked.
    pub principal: &'a str,
    /// For which tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<&'a str>,
    /// The digest of the bundle that decided.
    pub bundle: String,
    /// The rule that decided: `file:line` of what was served, or why it was refused.
    pub rule: String,
    /// What the server did: `served`, `refused`, `cancelled` or `timed_out`.
    pub action: Action,
    /// The names of the prompts that a briefing sent in full.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<String>,
    /// The W3C trace context that the caller sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<&'a str>,
}

/// What the server did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It answered.
    Served,
    /// It refused.
    Refused,
    /// It ended a call whose client cancelled it or left.
    Cancelled,
    /// It ended a call that was out of time.
    TimedOut,
}

/// Returns the arguments as a record shows them.
///
/// A value that the project lists is written; of a free text only its length, since a person may
/// have typed a secret into it.
#[must_use]
pub fn arguments<'a>(values: &'a [Value<'a>]) -> BTreeMap<&'a str, String> {
    values
        .iter()
        .filter_map(|value| {
            let text = value.text.as_deref()?;
            let shown = if value.finite {
                text.chars().take(ARGUMENT_CHARS_MAX).collect()
            } else {
                length(text)
            };
            Some((value.name, shown))
        })
        .collect()
}

/// Returns the arguments of a refused call as a record shows them: names and lengths.
///
/// Nothing says which of them the project knows, so no value is written, and of the names no more
/// than a prompt could have.
#[must_use]
pub fn typed_arguments(given: &BTreeMap<String, String>) -> BTreeMap<&str, String> {
    let known_size = |name: &&String| name.chars().count() <= ARGUMENT_NAME_CHARS_MAX;
    given
        .keys()
        .filter(known_size)
        .take(ARGUMENTS_MAX)
        .filter_map(|name| Some((name.as_str(), length(given.get(name)?))))
        .collect()
}

/// Returns the arguments of a call as a record shows them: numbers and truth values as they are, of
/// texts only how long they are, of lists and objects only how many entries they have.
#[must_use]
pub fn call_arguments(given: &Map<String, Json>) -> BTreeMap<&str, String> {
    let known_size = |(name, _): &(&String, &Json)| name.chars().count() <= ARGUMENT_NAME_CHARS_MAX;
    let value = |value: &Json| match value {
        Json::String(text) => length(text),
        Json::Array(items) => format!("[{} entries]", items.len()),
        Json::Object(object) => format!("[{} entries]", object.len()),
        // A number is written as it came, and that may be long.
        Json::Null | Json::Bool(_) | Json::Number(_) => {
            value.to_string().chars().take(ARGUMENT_CHARS_MAX).collect()
        }
    };
    let given = given.iter().filter(known_size).take(ARGUMENTS_MAX);
    given.map(|(name, json)| (name.as_str(), value(json))).collect()
}

fn length(text: &str) -> String {
    format!("[{} characters]", text.chars().count())
}

/// A running hash and count of an answer's bodies.
#[derive(Debug, Default)]
pub struct OutputHash {
    hasher: sha2::Sha256,
    length: usize,
}

impl OutputHash {
    /// Adds the bytes of one body.
    pub fn update(&mut self, bytes: &[u8]) {
        use sha2::Digest as _;
        self.hasher.update(bytes);
        self.length += bytes.len();
    }

    /// Returns the hash as 64 hexadecimal digits, and the bytes that went in.
    #[must_use]
    pub fn finish(self) -> (String, usize) {
        use sha2::Digest as _;
        (Digest(self.hasher.finalize().into()).hex(), self.length)
    }
}
