//! Requests over HTTP that rmcp answers by itself: their errors, and their records.
//!
//! A handler records its requests. A request for a prompt, a tool or a resource that is rejected
//! before a handler gets its record here.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use rmcp::ErrorData;
use rmcp::model::RequestId;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::bad_params;
use super::caller::caller;
use crate::caller::principal::Principal;
use crate::record::audit::Entry;
use crate::server::Server;
use crate::trust::placed::Placed;

/// The most records of one body, which may be a batch.
const RECORDS_MAX: usize = 16;
/// The method that begins a session.
const INITIALIZE: &str = "initialize";
/// The types of an answer: rmcp requires both.
const ANSWERS: [&str; 2] = ["application/json", "text/event-stream"];
/// Both of them, as clients name them.
const BOTH: &str = "application/json, text/event-stream";

/// The parts of a message read here.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(default, borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    params: Option<&'a RawValue>,
}

impl Message<'_> {
    fn params(&self) -> Value {
        let params = self.params.map(|params| serde_json::from_str(params.get()));
        params.and_then(Result::ok).unwrap_or_default()
    }

    /// Returns the label of the message's subject in records, if it has one.
    fn label(&self, placed: &Placed) -> Option<String> {
        bad_params::label(placed, self.method.as_deref()?, &self.params())
    }

    fn id(&self) -> Option<RequestId> {
        serde_json::from_str(self.id?.get()).ok()
    }
}

/// Returns the messages of a body: one, or those of a batch.
fn messages(body: &[u8]) -> Vec<Message<'_>> {
    if is_batch(body) {
        return serde_json::from_slice(body).unwrap_or_default();
    }
    serde_json::from_slice(body).map(|message| vec![message]).unwrap_or_default()
}

/// Returns whether a body is a batch of messages.
pub(super) fn is_batch(body: &[u8]) -> bool {
    body.trim_ascii_start().starts_with(b"[")
}

/// The reason why a batch is rejected.
pub(super) const BATCH: &str =
    "a batch of messages is not supported (only protocol 2025-03-26 has them): send each by itself";

/// Records the requests of `body` that have a subject and were answered before any handler.
pub(super) fn record(
    server: &Arc<Server>,
    principal: &Arc<Principal>,
    body: &[u8],
    status: StatusCode,
) {
    let loaded = server.loaded().clone();
    let Ok(placed) = Placed::new(loaded.clone(), principal) else { return };
    let messages = messages(body);
    let rule = match status {
        StatusCode::ACCEPTED => "a notification, which has no answer".to_owned(),
        _ if is_batch(body) => BATCH.to_owned(),
        _ => format!("rejected with HTTP status {}, before it was read further", status.as_u16()),
    };
    if messages.is_empty() {
        server.refuse_request(principal, &rule);
    }
    let named = messages.iter().filter_map(|message| Some((message, message.label(&placed)?)));
    for (message, label) in named.take(RECORDS_MAX) {
        let id = message.id().map(|id| id.to_string()).unwrap_or_default();
        let caller = caller(&placed, principal.clone(), id, None);
        let entry = Entry::refused(label, BTreeMap::new(), rule.clone());
        server.audit.record(&caller, loaded.digest(), entry);
    }
}

/// Returns the error for an `initialize` with malformed parameters.
pub(super) fn bad_initialize(body: &[u8]) -> Option<(ErrorData, Option<RequestId>)> {
    let message: Message<'_> = serde_json::from_slice(body).ok()?;
    if message.method.as_deref() != Some(INITIALIZE) {
        return None;
    }
    Some((bad_params::wrong_initialize(&message.params())?, message.id()))
}

/// Returns whether `Accept` is as clients of MCP send it: both types, and nothing else.
pub(super) fn accepts_as_clients_do(headers: &HeaderMap) -> bool {
    let mut sent = headers.get_all(ACCEPT).iter();
    matches!((sent.next(), sent.next()), (Some(value), None) if value == BOTH)
}

/// Names both types of answers in `Accept` if its ranges hold them: rmcp ignores `*/*`. If that
/// header is missing, a client takes any type (RFC 9110, section 12.5.1).
pub(super) fn expand_accept(headers: &mut HeaderMap) {
    if accepts_as_clients_do(headers) {
        return;
    }
    headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
    let accepts = |kind: &str| {
        let ranges = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let ranges = ranges.flat_map(|value| value.split(',')).filter_map(|range| {
            let (essence, parameters) = range.split_once(';').unwrap_or((range, ""));
            Some((precision(essence.trim(), kind)?, !is_refused(parameters)))
        });
        // The most precise range decides (RFC 9110, section 12.5.1).
        ranges.max_by_key(|(precision, _)| *precision).is_some_and(|(_, accepted)| accepted)
    };
    let accepted: Vec<_> = ANSWERS.into_iter().filter(|kind| accepts(kind)).collect();
    if let Ok(value) = HeaderValue::from_str(&accepted.join(", "))
        && !accepted.is_empty()
    {
        headers.insert(ACCEPT, value);
    }
}

/// Returns the precision with which a range names a type, if it holds the type.
fn precision(range: &str, kind: &str) -> Option<u8> {
    let main = kind.split('/').next().unwrap_or_default();
    match range.split_once('/')? {
        _ if range.eq_ignore_ascii_case(kind) => Some(2),
        (of, "*") if of.eq_ignore_ascii_case(main) => Some(1),
        ("*", "*") => Some(0),
        _ => None,
    }
}

/// Returns whether the parameters of a range have the weight 0.
fn is_refused(parameters: &str) -> bool {
    let mut named = parameters.split(';').filter_map(|parameter| parameter.split_once('='));
    let weight = named.find(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
    weight.is_some_and(|(_, value)| value.trim().parse::<f32>() == Ok(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_types_are_expanded() {
        let expanded = |accept: &str| {
            let value = HeaderValue::from_str(accept).expect("a value");
            let mut headers = HeaderMap::from_iter([(ACCEPT, value)]);
            expand_accept(&mut headers);
            headers[ACCEPT].to_str().expect("a text").to_owned()
        };
        let both = "application/json, text/event-stream";
        for all in ["*/*", "text/html, */*;q=0.8", "application/*, text/*", both] {
            assert_eq!(expanded(all), both, "{all}");
        }
        let mut none = HeaderMap::new();
        expand_accept(&mut none);
        assert_eq!(none[ACCEPT], both);
        assert_eq!(expanded("application/json"), "application/json");
        assert_eq!(expanded("*/*, text/event-stream;q=0"), "application/json");
        assert_eq!(expanded("text/html"), "text/html");
    }
}
