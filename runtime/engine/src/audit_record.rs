//! One record of the audit file: the request, the caller, and the bundle.
//!
//! Bodies are recorded as hashes. Free texts of a caller are recorded as lengths, and commands with
//! their secrets redacted. Labels are names of the bundle; unknown names of a caller become `unknown`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use relay_bundle::{Digest, Tier};
use relay_policy::classify::Verdict;
use relay_policy::effect::{Effect, Sent, What};
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::prompt::Value;
use crate::redact::redacted;

/// The most characters of a text in a record.
pub const TEXT_CHARS_MAX: usize = 500;

/// The most effects of a call in a record.
pub const EFFECTS_MAX: usize = 64;

/// The last character of a truncated text.
const TRUNCATED: char = '…';

/// The name of all undeclared arguments in a record.
const UNKNOWN_ARGUMENTS: &str = "[unknown]";

/// The length of a W3C trace context of version 0.
const TRACEPARENT_BYTES: usize = 55;

/// The label of a request in records: its tool, prompt or resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'b> {
    /// A tool that the bundle offers.
    Tool(&'b str),
    /// A prompt of the bundle.
    Prompt(&'b str),
    /// A resource of the bundle by its URI, or a URI template.
    Resource(&'b str),
    /// A tool that is unknown to the bundle, or a malformed call.
    UnknownTool,
    /// An unknown prompt, or a malformed request.
    UnknownPrompt,
    /// An unknown resource, or a malformed request.
    UnknownResource,
}

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(name) => f.write_str(name),
            Self::Prompt(name) => write!(f, "prompt:{name}"),
            Self::Resource(uri) => write!(f, "resource:{uri}"),
            Self::UnknownTool => f.write_str("tool:unknown"),
            Self::UnknownPrompt => f.write_str("prompt:unknown"),
            Self::UnknownResource => f.write_str("resource:unknown"),
        }
    }
}

/// One audit record. Field order is the order in the file. By default it says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditRecord<'a> {
    /// The time of the record, in RFC 3339 with milliseconds.
    pub ts: String,
    /// The tool of a call, or the label of another request: `prompt:NAME`, `resource:URI`,
    /// `subscribe:…`, `unsubscribe:…`, `complete:…`, `listen`. A name that the bundle does not have
    /// is recorded as `unknown`. `authentication` is a request with missing or invalid credentials,
    /// `request` one that was refused unread. Events are `bundle:reload`, `bundle:revoked`,
    /// `session:ended`, `connection:ended`, `forward:ended`, `forward:target`, `forward:targets`,
    /// `audit:lost`, `audit:unflushed` and `audit:checkpoint`.
    pub tool: String,
    /// The tier of the call; reads are 0.
    pub tier: Tier,
    /// Whether the request was rejected or the call denied.
    pub denied: bool,
    /// The arguments: values that the project lists, and the length of any other text.
    pub args: BTreeMap<&'a str, String>,
    /// SHA-256 of the answer's bodies, as 64 hexadecimal digits.
    pub output_sha256: String,
    /// The bytes of the answer's bodies.
    pub output_len: usize,
    /// The exit code of a command.
    pub exit_code: Option<i32>,
    /// The JSON-RPC id of the request, truncated.
    pub request_id: String,
    /// The caller.
    pub principal: &'a str,
    /// The authorization server that vouches for the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<&'a str>,
    /// The tenant of the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<&'a str>,
    /// The role that the bundle gives the caller, if the bundle has roles and admits the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'a str>,
    /// The digest of the bundle in force.
    pub bundle: String,
    /// The rule that decided: `file:line` of the served declaration, or the reason for a refusal.
    pub rule: String,
    /// The server's action: `begun` before a call of tier 2 or 3 runs; how it ended is `served`,
    /// `refused`, `asked`, `cancelled` or `timed_out`, as for every request.
    pub action: Action,
    /// The names of the prompts that a briefing sent in full.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<String>,
    /// The skills that the call was given, if any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// The rules of the policy that would deny the call if they were not only observed, each as
    /// `policy.NAME (file:line)`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub observed: Vec<String>,
    /// The effects of the call that the policy judged, in the order of its text; of more than 64
    /// those with the highest tiers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<RecordedEffect>,
    /// The number of further effects.
    #[serde(skip_serializing_if = "is_zero")]
    pub effects_omitted: usize,
    /// The answer of the person who had to approve the call: `approved`, `declined`, `closed` (the
    /// question), `undecided` (the client approved without a decision), `late`, `used` (before),
    /// `altered` (for another call), `silent` (no answer in time), `too_many` (answers of this caller),
    /// or `unable` for a client that lacks forms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<&'a str>,
    /// The W3C trace context that the caller sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<&'a str>,
    /// The parts of a record of a client's hook.
    #[serde(flatten)]
    pub hook: Option<HookRecord<'a>>,
    /// The parts of a record of a decision for another gateway.
    #[serde(flatten)]
    pub port: Option<PortRecord>,
}

/// The further parts of a record of a decision for another gateway. The caller is the gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PortRecord {
    /// The protocol of the question: `authzen` or `ext_authz`.
    pub port: &'static str,
    /// The method that the gateway asks about; `unknown` for all that cannot be permitted.
    pub method: &'static str,
    /// The id of the caller that the gateway asks for, truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The tenant that the bundle gives that caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject_tenant: Option<String>,
    /// The role that the bundle gives that caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject_role: Option<String>,
    /// The decision: `allow`, `approve`, `deny` or `reject`.
    pub ruling: &'static str,
}

/// The further parts of a record of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookRecord<'a> {
    /// The client whose dialect the event is in, such as `claude-code`.
    pub client: &'a str,
    /// The client that the hook was installed for, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<&'a str>,
    /// The version of the client, if the event says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_version: Option<String>,
    /// The name of the event, as the client spells it.
    pub event: String,
    /// The name of the client's own tool, if it is one that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_tool: Option<String>,
    /// The beginning of the SHA-256 of the session's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The id of the call, truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// The mode of the client's own permissions, truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The decision: `allow`, `approve` or `deny`.
    pub decision: &'a str,
    /// The answer to the client: `none` (no objection), `allow`, `ask` or `deny`.
    pub answered: &'a str,
    /// The time from the start of the program to the record, in microseconds.
    pub latency_us: u64,
}

/// An effect of a call, without any text of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordedEffect {
    /// Its kind, as `relay classify --json` names it.
    pub effect: &'static str,
    /// The kind of its path, as `relay classify --json` names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<&'static str>,
    /// Whether it reads or sends a secret.
    #[serde(skip_serializing_if = "is_false")]
    pub secret: bool,
    /// Its tier.
    pub tier: Tier,
    /// Its first byte in the text of the call.
    pub start: u32,
    /// The byte after its last.
    pub end: u32,
}

/// The server's action.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It is about to run the call; another record says how the call ended.
    Begun,
    /// It answered.
    #[default]
    Served,
    /// It rejected the request or denied the call.
    Refused,
    /// It had the client ask a person, and waits for the call to come again.
    Asked,
    /// It ended a call whose client cancelled it or disconnected.
    Cancelled,
    /// It ended a call at its time limit.
    TimedOut,
}

/// Returns the arguments for a record.
///
/// Values that the project lists are written in full. For free texts only the length is written, since
/// they may hold secrets.
#[must_use]
pub fn arguments<'a>(values: &'a [Value<'a>]) -> BTreeMap<&'a str, String> {
    values
        .iter()
        .filter_map(|value| {
            let text = value.text.as_deref()?;
            let recorded = if value.finite { truncated(text) } else { length(text) };
            Some((value.name, recorded))
        })
        .collect()
}

/// Returns the arguments of a rejected or denied request for a record: the length of each, by name
/// for the names in `declared`. Other names are only counted, since a caller typed them.
#[must_use]
pub fn typed_arguments<'a>(
    given: &'a BTreeMap<String, String>,
    declared: &[&str],
) -> BTreeMap<&'a str, String> {
    by_name(given.iter().map(|(name, text)| (name.as_str(), length(text))), declared)
}

/// Returns the arguments of a call for a record: numbers and truth values literally, the length of
/// texts, and the number of entries of lists and objects. Names outside of `declared` are only
/// counted, since a caller typed them.
#[must_use]
pub fn call_arguments<'a>(
    given: &'a Map<String, Json>,
    declared: &[&str],
) -> BTreeMap<&'a str, String> {
    let value = |value: &Json| match value {
        Json::String(text) => length(text),
        Json::Array(items) => format!("[{} entries]", items.len()),
        Json::Object(object) => format!("[{} entries]", object.len()),
        // A number is written as sent, so it may be long.
        Json::Null | Json::Bool(_) | Json::Number(_) => truncated(&value.to_string()),
    };
    by_name(given.iter().map(|(name, json)| (name.as_str(), value(json))), declared)
}

/// Returns the arguments of a call of a tool that starts processes: its texts, with secrets redacted and
/// truncated, since a reviewer reads the commands that ran. Names in `withheld` keep only their length;
/// names outside of `declared` are only counted.
#[must_use]
pub fn command_arguments<'a>(
    given: &'a Map<String, Json>,
    declared: &[&str],
    withheld: &[&str],
) -> BTreeMap<&'a str, String> {
    let value = |name: &str, value: &Json| match value {
        Json::String(text) if withheld.contains(&name) => length(text),
        Json::String(text) => truncated(&redacted(text)),
        Json::Array(items) => format!("[{} entries]", items.len()),
        Json::Object(object) => format!("[{} entries]", object.len()),
        Json::Null | Json::Bool(_) | Json::Number(_) => truncated(&value.to_string()),
    };
    by_name(given.iter().map(|(name, json)| (name.as_str(), value(name, json))), declared)
}

/// Returns the effects of a call for a record, and the number of those left out.
#[must_use]
pub fn effects(verdict: &Verdict) -> (Vec<RecordedEffect>, usize) {
    let judged = verdict.effects.all().iter().zip(&verdict.tiers);
    let mut all: Vec<(usize, RecordedEffect)> =
        judged.map(|(effect, tier)| RecordedEffect::of(effect, *tier)).enumerate().collect();
    let omitted = all.len().saturating_sub(EFFECTS_MAX);
    if omitted > 0 {
        all.sort_by_key(|(place, effect)| (Reverse(effect.tier), *place));
        all.truncate(EFFECTS_MAX);
        all.sort_by_key(|(place, _)| *place);
    }
    (all.into_iter().map(|(_, effect)| effect).collect(), omitted)
}

impl RecordedEffect {
    fn of(effect: &Effect, tier: Tier) -> Self {
        let (class, secret) = match effect.what {
            What::Path { class, is_secret, .. } => (Some(class.name()), is_secret),
            What::Sends(sent) => (None, sent == Sent::Secret),
            _ => (None, false),
        };
        let (start, end) = (effect.span.start, effect.span.end);
        Self { effect: effect.name(), class, secret, tier, start, end }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

fn by_name<'a>(
    given: impl Iterator<Item = (&'a str, String)>,
    declared: &[&str],
) -> BTreeMap<&'a str, String> {
    let (mut named, mut unknown) = (BTreeMap::new(), 0usize);
    for (name, value) in given {
        if declared.contains(&name) {
            named.insert(name, value);
        } else {
            unknown += 1;
        }
    }
    if unknown > 0 {
        named.insert(UNKNOWN_ARGUMENTS, format!("[{unknown} entries]"));
    }
    named
}

/// Returns a text for a record, with a mark if it was truncated.
#[must_use]
pub fn truncated(text: &str) -> String {
    if text.chars().nth(TEXT_CHARS_MAX).is_none() {
        return text.to_owned();
    }
    let kept = text.chars().take(TEXT_CHARS_MAX - 1);
    kept.chain([TRUNCATED]).collect()
}

/// Returns the trace context of a caller for a record; `None` unless it has the form of W3C.
#[must_use]
pub fn traceparent(text: &str) -> Option<&str> {
    let (context, rest) = text.split_at_checked(TRACEPARENT_BYTES)?;
    let is_hex = |part: &str| {
        part.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    let mut lengths = [2, 32, 16, 2].into_iter();
    let is_context =
        context.split('-').all(|part| lengths.next() == Some(part.len()) && is_hex(part));
    // A later version may have more parts.
    (is_context && (rest.is_empty() || rest.starts_with('-'))).then_some(context)
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

    /// Returns the hash as 64 hexadecimal digits, and the number of bytes.
    #[must_use]
    pub fn finish(self) -> (String, usize) {
        use sha2::Digest as _;
        (Digest(self.hasher.finalize().into()).hex(), self.length)
    }
}
