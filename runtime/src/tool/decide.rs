//! A decision of `relay-engine` -> the permit to run, or the error of the call.

use std::sync::Arc;

use relay_bundle::Tier;
use relay_engine::audit_record;
use relay_engine::decide::{self, Decision, Door, Outcome};
use relay_engine::tool::{Group, Offered, ToolSpec};
use relay_policy::location::Location;
use serde_json::{Map, Value};

use super::call::Call;
use super::error::CallError;
use crate::caller::principal::Principal;
use crate::caller::rejection::Rejection;
use crate::caller::truncate;
use crate::process::{Folder, FolderError};
use crate::record::audit::{Judged, NAMES_MAX};

/// The tool that types into a session.
pub(super) const SESSION_SEND: &str = "session_send";
/// The argument with the folder of a process.
const CWD: &str = "cwd";

/// The permission to run a tool. Only [`decide()`] creates one, and every tool requires one.
#[derive(Debug, Clone)]
pub(super) struct Permit {
    spec: &'static ToolSpec,
    principal: Arc<Principal>,
    at: String,
    /// The folder of the process, for tools that start one.
    folder: Option<Folder>,
}

impl Permit {
    /// Returns the tool that may run.
    pub(super) fn spec(&self) -> &'static ToolSpec {
        self.spec
    }

    /// Returns the principal of the call.
    pub(super) fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Returns the folder of the process that was decided on, for tools that start one.
    pub(super) fn folder(&self) -> Option<&Folder> {
        self.folder.as_ref()
    }

    /// Returns the place in the project of the rule that allows the call.
    pub(super) fn at(&self) -> &str {
        &self.at
    }
}

/// The decision on a call.
#[derive(Debug)]
pub(super) struct Decided<'c> {
    /// The tool, which the caller sees.
    pub(super) offered: &'c Offered,
    /// The permission to run it, or the denial.
    pub(super) permit: Result<Permit, CallError>,
    /// The tier of the call.
    pub(super) tier: Tier,
    /// The parts of the decision for the record.
    pub(super) judged: Judged,
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
    let location = match &folder {
        Some(Ok(folder)) => folder.location.clone(),
        Some(Err(_)) | None => Location::default(),
    };
    // Typed text is judged with the line that it goes on with.
    let typed = (name == SESSION_SEND).then(|| with_pending(call, arguments)).flatten();
    let asked = decide::Call {
        tool: name,
        arguments: typed.as_ref().unwrap_or(arguments),
        client: None,
        location: &location,
        door: Door::Server,
    };
    let decision = decide::decide(&view, &call.placed.loaded.authority, &asked)?;
    let reason = recorded_reason(&decision);
    let Decision { outcome, tier, ref at, .. } = decision;
    let reject = || {
        let name = truncate(name);
        let text = format!("unknown tool `{name}`: tools/list names the available tools");
        Rejection::Wrong { text, rule: decision.reason() }
    };
    let offered = offered(call, name).ok_or_else(reject)?;
    let permit = match outcome {
        Outcome::Reject => return Err(reject()),
        // No one can be asked yet, which is a no.
        Outcome::Deny | Outcome::Approve => {
            Err(CallError::Denied { denial: decision.denial(), reason })
        }
        Outcome::Allow => {
            folder.transpose().map_err(|error| no_folder(tier, &error)).map(|folder| {
                let principal = call.caller.principal.clone();
                let at = at.as_ref().map(ToString::to_string).unwrap_or_default();
                Permit { spec: offered.spec, principal, at, folder }
            })
        }
    };
    Ok(Decided { offered, permit, tier, judged: judged(&decision) })
}

/// Returns the arguments of a call that types into a session, with the line that its text goes on
/// with: a shell reads both as one. `None` if nothing was typed before.
fn with_pending(call: &Call, given: &Map<String, Value>) -> Option<Map<String, Value>> {
    let text = |name: &str| given.get(name).and_then(Value::as_str);
    let session = call.server.processes.session(text("session_id")?, &call.caller.principal)?;
    let pending = session.pending();
    let joined = format!("{pending}{}", text("data")?);
    let mut given = given.clone();
    given.insert("data".to_owned(), joined.into());
    (!pending.is_empty()).then_some(given)
}

/// Finds the folder of the process that a call would start; `None` for tools that start none.
fn folder(
    call: &Call,
    name: &str,
    arguments: &Map<String, Value>,
) -> Option<Result<Folder, FolderError>> {
    let offered = offered(call, name)?;
    if !matches!(offered.spec.group, Group::Shell | Group::Sessions) {
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
            CallError::Denied { denial, reason }
        }
        FolderError::Unreachable(_) | FolderError::Unnamed => CallError::Failed(reason),
    }
}

/// Returns the reason of a decision for the record of its call.
pub(crate) fn recorded_reason(decision: &Decision) -> String {
    match &decision.at {
        Some(at) if decision.named.is_some() => {
            format!("{}: {} ({}:{})", decision.rule_name(), decision.reason(), at.file, at.line)
        }
        _ => decision.reason(),
    }
}

/// Returns the parts of a decision for the record of its call.
pub(crate) fn judged(decision: &Decision) -> Judged {
    let observed = decision.observed.iter().take(NAMES_MAX);
    let observed =
        observed.map(|it| format!("policy.{} ({}:{})", it.name, it.at.file, it.at.line)).collect();
    let effects = decision.verdict.as_deref().map(audit_record::effects);
    let (effects, effects_omitted) = effects.unwrap_or_default();
    Judged { observed, effects, effects_omitted }
}

/// Returns the tool of a name, visible to the caller or hidden.
pub(super) fn offered<'a>(call: &'a Call, name: &str) -> Option<&'a Offered> {
    call.placed.loaded.tools.iter().find(|offered| offered.spec.name == name)
}
