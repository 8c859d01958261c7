//! A call that a person must approve: its question, and its permit after a yes.

use std::time::Duration;

use relay_bundle::Digest;
use relay_engine::approval::{Bound, canonical, shown};
use relay_engine::decide::{self, Decision};
use relay_engine::tool::reach;
use serde_json::{Value, json};

use super::permit::Permit;
use super::recorded::recorded_reason;
use crate::caller::rejection::Rejection;
use crate::tool::call::Call;
use crate::tool::error::CallError;
use crate::tool::person::{No, Question, Reply};

/// The time for which a yes counts, unless the rule says it.
pub(in crate::tool) const TTL: Duration = Duration::from_secs(120);

/// A call that runs only after a person's yes.
#[derive(Debug)]
pub(in crate::tool) struct Unapproved {
    permit: Permit,
    decision: Box<Decision>,
    pub(in crate::tool) question: Question,
}

/// Why a call that needs a person's yes does not run now.
#[derive(Debug)]
pub(in crate::tool) enum Unanswered {
    /// The person is asked, and the client calls again.
    Later { question: Question, state: String, reason: String },
    /// The call is over.
    Over(CallError),
}

impl Unapproved {
    /// The word in records for a client that cannot ask.
    pub(in crate::tool) const UNABLE: &str = "unable";

    /// Returns a call that a person must approve. `arguments` are those that were decided on.
    pub(in crate::tool) fn new(
        call: &Call,
        permit: Permit,
        asked: &decide::Call<'_>,
        decision: Decision,
    ) -> Self {
        let arguments = Value::Object(asked.arguments.clone());
        let text = match decision.text.as_str() {
            "" => canonical(&arguments),
            text => text.to_owned(),
        };
        let folder = permit.folder().map(|folder| folder.path.display().to_string());
        let folder = folder.unwrap_or_default();
        let bound = bound(call, &folder, &json!({ "tool": asked.tool, "arguments": arguments }));
        let ttl_s = decision.named.as_ref().and_then(|named| named.ttl_s);
        let ttl = ttl_s.map_or(TTL, |seconds| Duration::from_secs(seconds.into()));
        let place = Place { folder, host: host(asked) };
        let text = question(call, (asked.tool, &text, &place), &decision);
        let question = Question { text, bound, ttl };
        Self { permit, decision: Box::new(decision), question }
    }

    /// Returns the permit of a call that a person approved, or why it does not run.
    pub(in crate::tool) fn settled(self, reply: Reply) -> Result<Permit, Unanswered> {
        match reply {
            Reply::Yes => Ok(self.permit.approved()),
            Reply::Later { state } => {
                let reason = recorded_reason(&self.decision);
                Err(Unanswered::Later { question: self.question, state, reason })
            }
            Reply::No(no) => Err(self.refused(no).into()),
            Reply::Unable => Err(self.unable().into()),
        }
    }

    fn refused(&self, no: No) -> CallError {
        let reason = format!("{}; {no}", recorded_reason(&self.decision));
        let denial = self.decision.unapproved(&no.to_string());
        CallError::Denied { denial, reason, approval: Some(no.word()) }
    }

    /// Returns the denial for a client that cannot ask.
    pub(in crate::tool) fn unable(&self) -> CallError {
        let reason = recorded_reason(&self.decision);
        let denial = self.decision.denial();
        CallError::Denied { denial, reason, approval: Some(Self::UNABLE) }
    }
}

impl From<CallError> for Unanswered {
    fn from(error: CallError) -> Self {
        Self::Over(error)
    }
}

impl From<Rejection> for Unanswered {
    fn from(rejection: Rejection) -> Self {
        Self::Over(rejection.into())
    }
}

/// Returns the digest of the parts of a call that a yes is bound to.
fn bound(call: &Call, folder: &str, requests: &Value) -> Digest {
    let caller = &call.caller;
    let principal = &caller.principal;
    let parts = [&principal.issuer, &principal.tenant, &caller.tenant, &caller.role];
    let mut all = vec![principal.id.as_str()];
    // An absent part differs from an empty one.
    for part in parts {
        all.extend(part.as_deref().map_or(["-", ""], |part| ["+", part]));
    }
    let requests = canonical(requests);
    Bound { requests: &requests, cwd: folder, caller: &all, bundle: call.placed.loaded.digest() }
        .key()
}

/// The place that a question names.
struct Place {
    /// The folder of a process; empty for other calls.
    folder: String,
    /// The host, and the way to it; absent for the machine of the server.
    host: Option<String>,
}

/// Returns the host of a call and its way there, for a question.
fn host(asked: &decide::Call<'_>) -> Option<String> {
    let reach = reach(asked.tool)?;
    let given = |name: &str| {
        let value = asked.arguments.get(name).filter(|value| !value.is_null())?;
        let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        Some(text).filter(|text| !text.is_empty())
    };
    let named = reach.host.and_then(given).or(asked.location.host().map(ToOwned::to_owned));
    let all = reach.is_of_fleet.then(|| "all hosts of the project".to_owned());
    let mut line = named.or(all)?;
    for (name, word) in
        [("user", "as"), ("port", "port"), ("key_path", "with the key"), ("jump", "through")]
    {
        if let Some(value) = given(name).filter(|_| reach.host.is_some()) {
            line.push_str(&format!(", {word} {value}"));
        }
    }
    Some(line)
}

/// Returns the text of a question.
fn question(call: &Call, (tool, text, place): (&str, &str, &Place), decision: &Decision) -> String {
    let Decision { tier, at, .. } = decision;
    let project = &call.placed.loaded.manifest().project.value;
    let mut lines = vec![
        format!("An agent asks to run this with `{tool}` on the server of `{project}`:"),
        String::new(),
        shown(text),
        String::new(),
    ];
    let Place { folder, host } = place;
    if let Some(host) = host {
        lines.push(format!("Host: {}", shown(host).trim_start()));
    }
    if !folder.is_empty() {
        lines.push(format!("Folder: {}", shown(folder).trim_start()));
    }
    lines.push(format!("Caller: {}", shown(&call.caller.principal.id).trim_start()));
    lines.push(format!("Tier: {} ({})", tier.number(), tier.name()));
    let at = at.as_ref().map(|at| format!(" ({}:{})", at.file, at.line)).unwrap_or_default();
    lines.push(format!("Asked because: {}{at}", decision.reason()));
    lines.join("\n")
}
