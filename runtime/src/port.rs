//! The decision port: other gateways ask whether a call of their own callers may run.
//!
//! A gateway authenticates like any caller, and its role needs `decides=#true`. It names the subject,
//! which the bundle places like an authenticated caller. The decision is the one of this server's own
//! door, and is recorded. Whatever cannot be decided is denied. The port runs nothing.

mod authzen;
mod ext_authz;
mod json;
mod method;
mod question;
mod ruling;
mod subject;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use relay_engine::audit_record::{self, PortRecord, Subject, truncated};
use relay_engine::decide::Outcome;
use serde_json::{Map, Value, json};
use tokio::task::yield_now;

use self::authzen::{Asked, Semantic};
use self::method::{Method, Names};
use self::question::{Read, Target, Unasked};
use self::ruling::Ruling;
use crate::caller::Caller;
use crate::caller::principal::Principal;
use crate::record::audit::Entry;
use crate::record::metrics::{Port, Ruled};
use crate::server::Server;
use crate::trust::loaded::Loaded;
use crate::trust::placed::Placed;

/// The paths of AuthZEN.
pub(crate) const EVALUATION_PATH: &str = "/access/v1/evaluation";
pub(crate) const EVALUATIONS_PATH: &str = "/access/v1/evaluations";
pub(crate) const CONFIGURATION_PATH: &str = "/.well-known/authzen-configuration";
/// The beginning of the paths of external authorization; that of the request follows.
pub(crate) const EXT_AUTHZ_PATH: &str = "/ext-authz";

/// The reason for a record of a caller without the right to ask.
pub(crate) const NO_RIGHT: &str = "the role of the caller does not decide";

/// The code of JSON-RPC for a denial, as COAZ-MCP has it.
const DENIED: i64 = -32001;
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const OUTCOME: HeaderName = HeaderName::from_static("x-relay-outcome");
const TRACEPARENT: &str = "traceparent";
/// The most bytes of a request id that is returned.
const REQUEST_ID_BYTES_MAX: usize = 512;
/// The label of records of a request that names no tool, prompt or resource.
const REQUEST: &str = "request";

/// The form of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Evaluation,
    Evaluations,
    ExtAuthz,
}

/// A gateway that may ask, and its request.
#[derive(Debug)]
pub(crate) struct Asking {
    pub(crate) server: Arc<Server>,
    pub(crate) principal: Arc<Principal>,
    /// The place of the gateway in the bundle in force.
    pub(crate) placed: Placed,
    pub(crate) form: Form,
    pub(crate) headers: HeaderMap,
}

/// Returns the document that names the endpoints below a URL.
pub(crate) fn configuration(base: &str) -> Value {
    json!({
        "policy_decision_point": base,
        "access_evaluation_endpoint": format!("{base}{EVALUATION_PATH}"),
        "access_evaluations_endpoint": format!("{base}{EVALUATIONS_PATH}"),
    })
}

impl Form {
    fn port(self) -> Port {
        match self {
            Self::Evaluation | Self::Evaluations => Port::Authzen,
            Self::ExtAuthz => Port::ExtAuthz,
        }
    }

    /// Returns the answer that refuses a request as a whole.
    ///
    /// A proxy may be told to let requests pass when its authorization fails, and takes any 5xx for
    /// a failure. So all refusals to it are denials.
    pub(crate) fn refuse(self, status: StatusCode, reason: &str) -> Response {
        match self {
            Self::Evaluation | Self::Evaluations => (status, format!("{reason}\n")).into_response(),
            Self::ExtAuthz => denial(&Value::Null, reason, Outcome::Deny),
        }
    }

    /// Makes a denial of an answer of the server to a request that could not be read.
    pub(crate) fn closed(self, response: Response) -> Response {
        let status = response.status();
        match self {
            Self::ExtAuthz if status != StatusCode::OK && status != StatusCode::UNAUTHORIZED => {
                let mut response = response;
                *response.status_mut() = StatusCode::FORBIDDEN;
                response
            }
            _ => response,
        }
    }
}

impl Asking {
    /// Answers a request of a gateway.
    pub(crate) async fn answer(self, body: Bytes) -> Response {
        let Some(_room) = self.server.calls.room(&self.principal) else {
            let max = self.server.calls.principal_calls_max();
            let reason = format!("the limit of {max} concurrent calls is reached");
            self.server.refuse_request(&self.principal, &reason);
            return self.form.refuse(StatusCode::TOO_MANY_REQUESTS, &reason);
        };
        if self.form == Form::ExtAuthz {
            return self.ext_authz(&body);
        }
        let answered = match json::object(&body).filter(|_| self.has_json()) {
            Some(request) => self.authzen(&request).await,
            None => {
                let reason = "the body is no JSON object (application/json), or has a member twice";
                Err(self.unread(Unasked::Malformed(reason)))
            }
        };
        let mut response = match answered {
            Ok(answer) => {
                let json = [(header::CONTENT_TYPE, "application/json")];
                (json, answer.to_string()).into_response()
            }
            Err(reason) => self.form.refuse(StatusCode::BAD_REQUEST, &reason),
        };
        // AuthZEN, "Request Identification".
        if let Some(id) = self.headers.get(REQUEST_ID).filter(|id| id.len() <= REQUEST_ID_BYTES_MAX)
        {
            response.headers_mut().insert(REQUEST_ID, id.clone());
        }
        response
    }

    async fn authzen(&self, request: &Map<String, Value>) -> Result<Value, String> {
        let asked = match self.form {
            Form::Evaluations => authzen::asked(request).map_err(|it| self.unread(it))?,
            Form::Evaluation | Form::ExtAuthz => Asked::One,
        };
        let (entries, semantic) = match asked {
            Asked::Several(entries, semantic) => (entries, semantic),
            Asked::One => {
                let ruling = self.rule(&authzen::read(request, &Map::new()), "");
                // A malformed request has no decision.
                return match ruling.error {
                    Some(400) => Err(ruling.reason),
                    _ => Ok(authzen::answer(&ruling)),
                };
            }
        };
        let mut answers = Vec::with_capacity(entries.len());
        for entry in entries {
            let read = match entry.as_object() {
                Some(entry) => authzen::read(entry, request),
                None => Read::nothing(Unasked::Malformed("an entry is no object")),
            };
            let ruling = self.rule(&read, "");
            answers.push(authzen::answer(&ruling));
            let is_permit = ruling.outcome == Outcome::Allow;
            match semantic {
                Semantic::DenyOnFirstDeny if !is_permit => break,
                Semantic::PermitOnFirstPermit if is_permit => break,
                _ => {}
            }
            // Others need the thread too.
            yield_now().await;
        }
        Ok(json!({ "evaluations": answers }))
    }

    fn ext_authz(&self, body: &[u8]) -> Response {
        let (read, id) = ext_authz::read(&self.headers, body);
        let recorded_id = if id.is_null() { String::new() } else { id.to_string() };
        let ruling = self.rule(&read, &recorded_id);
        match ruling.outcome {
            Outcome::Allow => (StatusCode::OK, [(OUTCOME, Outcome::Allow.word())]).into_response(),
            outcome => denial(&id, &ruling.refusal, outcome),
        }
    }

    /// Records a request that asks nothing, and returns the reason.
    fn unread(&self, unasked: Unasked) -> String {
        self.rule(&Read::nothing(unasked), "").reason
    }

    /// Decides a question, and records it.
    fn rule(&self, read: &Read, message_id: &str) -> Ruling {
        let ruling = match &read.question {
            Ok(question) => ruling::rule(&self.placed, question),
            Err(unasked) => Ruling::unasked(*unasked),
        };
        let ruled = match (ruling.error, ruling.outcome) {
            (Some(_), _) => Ruled::Error,
            (None, Outcome::Allow) => Ruled::Allow,
            (None, Outcome::Approve) => Ruled::Approve,
            (None, Outcome::Deny) => Ruled::Deny,
            (None, Outcome::Reject) => Ruled::Reject,
        };
        self.server.metrics.count_ruling(self.form.port(), ruled);
        self.record(read, &ruling, message_id);
        ruling
    }

    fn record(&self, read: &Read, ruling: &Ruling, message_id: &str) {
        let is_permit = ruling.outcome == Outcome::Allow;
        let target = read.question.as_ref().ok().map(|question| &question.target);
        // The door records what names a tool, a prompt or a resource, and refusals.
        if is_permit && matches!(target, Some(Target::Server)) {
            return;
        }
        let loaded = &self.placed.loaded;
        let mut args = BTreeMap::new();
        let label = match target {
            Some(Target::Tool(name, arguments)) => {
                let (label, declared) = ruling::tool_label(loaded, name);
                args = audit_record::call_arguments(arguments, &declared);
                label.to_string()
            }
            Some(target) => label_of(loaded, target, ruling),
            None => unread_label(read.method),
        };
        let mut output = audit_record::OutputHash::default();
        output.update(authzen::answer(ruling).to_string().as_bytes());
        let mut entry = match is_permit {
            true => Entry::served(label, args, output, ruling.recorded.clone()),
            false => Entry { output, ..Entry::refused(label, args, ruling.recorded.clone()) },
        };
        entry.tier = ruling.tier;
        entry.judged = ruling.judged.clone();
        let placed = ruling.placed.as_ref();
        entry.port = Some(PortRecord {
            port: self.form.port().text(),
            method: read.method.map_or("unknown", |method| method.name),
            subject: read.subject.as_deref().map(truncated),
            subject_tenant: placed.and_then(|it| it.tenant()).map(ToOwned::to_owned),
            subject_role: placed.and_then(|it| it.role()).map(ToOwned::to_owned),
            ruling: ruling.outcome.word(),
        });
        self.server.audit.record(&self.caller(message_id), loaded.digest(), entry);
    }

    /// Returns the gateway as the caller of records.
    fn caller(&self, message_id: &str) -> Caller {
        let header = |name: &str| {
            let value = self.headers.get(name).and_then(|value| value.to_str().ok());
            value.map(crate::caller::truncate)
        };
        let tenant = self.placed.tenant().map(ToOwned::to_owned);
        Caller {
            tenant: tenant.or_else(|| self.principal.tenant.clone()),
            role: self.placed.role().map(ToOwned::to_owned),
            request_id: match message_id {
                "" => header(REQUEST_ID.as_str()).unwrap_or_default(),
                id => id.to_owned(),
            },
            traceparent: header(TRACEPARENT),
            principal: self.principal.clone(),
        }
    }

    fn has_json(&self) -> bool {
        let mut types = self.headers.get_all(header::CONTENT_TYPE).iter();
        let essence = types.next().and_then(|value| value.to_str().ok());
        let essence = essence.and_then(|value| value.split(';').next()).unwrap_or_default();
        types.next().is_none() && essence.trim().eq_ignore_ascii_case("application/json")
    }
}

/// Returns the label of a prompt or a resource that exists, for the subject or for others.
fn label_of(loaded: &Loaded, target: &Target, ruling: &Ruling) -> String {
    let subject = match target {
        Target::Prompt(name) if ruling.exists => Subject::Prompt(name),
        Target::Prompt(_) => Subject::UnknownPrompt,
        Target::Resource(uri) => match ruling.placed.as_ref().filter(|_| ruling.exists) {
            Some(placed) => return crate::mcp::resource_label(placed, uri),
            None => Subject::UnknownResource,
        },
        Target::Tool(name, _) => ruling::tool_label(loaded, name).0,
        Target::Server => return REQUEST.to_owned(),
    };
    subject.to_string()
}

/// Returns the label of a request that could not be read.
fn unread_label(method: Option<&'static Method>) -> String {
    let subject = match method.map(|method| method.names) {
        Some(Names::Tool) => Subject::UnknownTool,
        Some(Names::Prompt) => Subject::UnknownPrompt,
        Some(Names::Resource) => Subject::UnknownResource,
        Some(Names::PromptOrResource | Names::Server | Names::Notification) | None => {
            return REQUEST.to_owned();
        }
    };
    subject.to_string()
}

/// Returns the answer with which a proxy refuses a message.
fn denial(id: &Value, reason: &str, outcome: Outcome) -> Response {
    let body =
        json!({ "jsonrpc": "2.0", "id": id, "error": { "code": DENIED, "message": reason } });
    let headers = [(header::CONTENT_TYPE, "application/json"), (OUTCOME, outcome.word())];
    (StatusCode::FORBIDDEN, headers, body.to_string()).into_response()
}
