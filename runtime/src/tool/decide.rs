//! A decision of `relay-engine` -> the permit to run, or the error of the call.

mod permit;
mod recorded;
mod unapproved;

use std::sync::Arc;

use relay_bundle::Tier;
use relay_engine::decide::{self, Decision, Door, Outcome};
use relay_engine::tool::{Offered, gone_on};
use relay_policy::location::Location;
use serde_json::{Map, Value};

use super::call::Call;
use super::error::CallError;
use crate::caller::rejection::Rejection;
use crate::caller::truncate;
use crate::process::{Folder, FolderError, Session};
use crate::record::audit::Judged;

pub(super) use self::permit::Permit;
use self::permit::Place;
pub(crate) use self::recorded::{judged, recorded_reason};
pub(super) use self::unapproved::{TTL, Unanswered, Unapproved};

/// The tool that types into a session.
pub(super) const SESSION_SEND: &str = "session_send";
/// The arguments with the session, and with the text to type.
const SESSION_ID: &str = "session_id";
const DATA: &str = "data";
/// The argument with the folder of a process.
const CWD: &str = "cwd";

/// The decision on a call.
#[derive(Debug)]
pub(super) struct Decided<'c> {
    /// The tool, which the caller sees.
    pub(super) offered: &'c Offered,
    /// The permission to run it, or the denial.
    pub(super) ruling: Result<Ruling, CallError>,
    /// The tier of the call.
    pub(super) tier: Tier,
    /// The parts of the decision for the record.
    pub(super) judged: Judged,
}

/// The permission to run a tool.
#[derive(Debug)]
pub(super) enum Ruling {
    /// It may run.
    Permitted(Permit),
    /// It may run after a person's yes.
    Asks(Unapproved),
}

/// Decides by `relay-engine` whether a call may run. A tool hidden from the caller is rejected like
/// an unknown one.
pub(super) fn decide<'c>(
    call: &'c Call,
    name: &str,
    arguments: &Map<String, Value>,
) -> Result<Decided<'c>, Rejection> {
    let view = call.placed.view()?;
    let folder = folder(call, name, arguments);
    let session = (name == SESSION_SEND).then(|| session(call, arguments)).flatten();
    let location = match (&folder, &session) {
        (_, Some(session)) => session.origin.location.clone(),
        (Some(Ok(folder)), _) => folder.location.clone(),
        _ => Location::default(),
    };
    // Typed text is judged with the line that it goes on with.
    let pending = session.map(|session| session.pending()).unwrap_or_default();
    let typed = with_pending(&pending, arguments);
    let asked = decide::Call {
        tool: name,
        arguments: typed.as_ref().unwrap_or(arguments),
        client: None,
        location: &location,
        door: Door::Server,
    };
    let decision = decide::decide(&view, &call.placed.loaded.authority, &asked)?;
    let reject = || {
        let name = truncate(name);
        let text = format!("unknown tool `{name}`: tools/list names the available tools");
        Rejection::Wrong { text, rule: decision.reason() }
    };
    let offered = offered(call, name).ok_or_else(reject)?;
    let (tier, judged) = (decision.tier, judged(&decision));
    let permit = |decision: &Decision| {
        let folder = folder.transpose().map_err(|error| no_folder(tier, &error))?;
        let at = decision.at.as_ref().map(ToString::to_string).unwrap_or_default();
        let place = Place { folder, pending };
        Ok(Permit::new((offered.spec, at), call.caller.principal.clone(), place))
    };
    let denied = |approval| {
        let (denial, reason) = (decision.denial(), recorded_reason(&decision));
        Err(CallError::Denied { denial, reason, approval })
    };
    let ruling = match decision.outcome {
        Outcome::Reject => return Err(reject()),
        Outcome::Deny => denied(None),
        // No one can be asked, which is a no.
        Outcome::Approve if call.person.is_none() => denied(Some(Unapproved::UNABLE)),
        Outcome::Approve => permit(&decision)
            .map(|permit| Ruling::Asks(Unapproved::new(call, permit, &asked, decision))),
        Outcome::Allow => permit(&decision).map(Ruling::Permitted),
    };
    Ok(Decided { offered, ruling, tier, judged })
}

/// Returns the session that a call types into, if it is the caller's.
fn session(call: &Call, given: &Map<String, Value>) -> Option<Arc<Session>> {
    let id = given.get(SESSION_ID).and_then(Value::as_str)?;
    call.server.processes.session(id, &call.caller.principal)
}

/// Returns the arguments of a call that types into a session, with the line that its text goes on
/// with: a shell reads both as one. `None` if nothing was typed before.
fn with_pending(pending: &str, given: &Map<String, Value>) -> Option<Map<String, Value>> {
    let data = given.get(DATA).and_then(Value::as_str).filter(|_| !pending.is_empty())?;
    let mut joined = given.clone();
    joined.insert(DATA.to_owned(), gone_on(pending, data).into());
    Some(joined)
}

/// Finds the folder of the process that a call would start; `None` for tools that start none.
fn folder(
    call: &Call,
    name: &str,
    arguments: &Map<String, Value>,
) -> Option<Result<Folder, FolderError>> {
    let offered = offered(call, name)?;
    if offered.spec.argument_names().all(|name| name != CWD) {
        return None;
    }
    let asked = arguments.get(CWD).and_then(Value::as_str).unwrap_or_default();
    Some(call.server.processes.folder(&call.placed.loaded.shell(), asked))
}

/// Returns the denial of a call whose folder is outside of those of the project, or cannot be entered.
fn no_folder(tier: Tier, error: &FolderError) -> CallError {
    let reason = error.to_string();
    match error {
        FolderError::Outside { at, .. } => {
            let at = at.as_ref().map(|at| format!(" ({}:{})", at.file, at.line));
            let reason = format!("{reason}{}", at.unwrap_or_default());
            let denial = format!("[DENIED tier {} ({}): {reason}]", tier.number(), tier.name());
            CallError::Denied { denial, reason, approval: None }
        }
        FolderError::Unreachable(_) | FolderError::Unnamed => CallError::Failed(reason),
    }
}

/// Returns the tool of a name, visible to the caller or hidden.
pub(super) fn offered<'a>(call: &'a Call, name: &str) -> Option<&'a Offered> {
    call.placed.loaded.tools.iter().find(|offered| offered.spec.name == name)
}
