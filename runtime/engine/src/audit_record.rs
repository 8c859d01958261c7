//! One record of the audit file: what was requested, by whom, and under which bundle.
//!
//! Bodies are recorded as hashes. Free texts of a caller are recorded as lengths.

use std::collections::BTreeMap;

use relay_bundle::Digest;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::prompt::Value;

/// An argument's value in a record is truncated to this many characters.
pub const ARGUMENT_CHARS_MAX: usize = 500;

/// The most arguments of a request that was not served that are in a record.
const ARGUMENTS_MAX: usize = 64;
/// An argument with a longer name is not in the record of a request that was not served.
const ARGUMENT_NAME_CHARS_MAX: usize = 64;

/// One audit record. Field order is the order in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditRecord<'a> {
    /// When, in RFC 3339 with milliseconds.
    pub ts: String,
    /// What was requested: a tool's name, `prompt:NAME` or `resource:URI`.
    pub tool: String,
    /// The tier of the call; reads are 0.
    pub tier: u8,
    /// Whether the request was rejected or the call denied.
    pub denied: bool,
    /// The arguments.
    pub args: BTreeMap<&'a str, String>,
    /// SHA-256 of the answer's bodies, as 64 hexadecimal digits.
    pub output_sha256: String,
    /// Bytes of the answer's bodies.
    pub output_len: usize,
    /// The exit code, for commands.
    pub exit_code: Option<i32>,
    /// The JSON-RPC id of the request.
    pub request_id: String,
    /// The caller.
    pub principal: &'a str,
    /// The tenant of the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<&'a str>,
    /// The digest of the bundle in force.
    pub bundle: String,
    /// The rule that decided: `file:line` of the declaration that was served, or why nothing was.
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
    /// It rejected the request or denied the call.
    Refused,
    /// It ended a call whose client cancelled it or disconnected.
    Cancelled,
    /// It ended a call at its time limit.
    TimedOut,
}

/// Returns the arguments for a record.
///
/// A value that the project lists is written. Of a free text only the length is written, since it
/// may hold a secret.
#[must_use]
pub fn arguments<'a>(values: &'a [Value<'a>]) -> BTreeMap<&'a str, String> {
    values
        .iter()
        .filter_map(|value| {
            let text = value.text.as_deref()?;
            let recorded = if value.finite {
                text.chars().take(ARGUMENT_CHARS_MAX).collect()
            } else {
                length(text)
            };
            Some((value.name, recorded))
        })
        .collect()
}

/// Returns the arguments of a request that was not served for a record: names and lengths.
///
/// Arguments may be unknown to the project, so no value is written, and names only within limits.
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

/// Returns the arguments of a call for a record: numbers and truth values as they are, the length
/// of texts, and the number of entries of lists and objects.
#[must_use]
pub fn call_arguments(given: &Map<String, Json>) -> BTreeMap<&str, String> {
    let known_size = |(name, _): &(&String, &Json)| name.chars().count() <= ARGUMENT_NAME_CHARS_MAX;
    let value = |value: &Json| match value {
        Json::String(text) => length(text),
        Json::Array(items) => format!("[{} entries]", items.len()),
        Json::Object(object) => format!("[{} entries]", object.len()),
        // A number is written as it was sent, which may be long.
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

    /// Returns the hash as 64 hexadecimal digits, and how many bytes were hashed.
    #[must_use]
    pub fn finish(self) -> (String, usize) {
        use sha2::Digest as _;
        (Digest(self.hasher.finalize().into()).hex(), self.length)
    }
}
