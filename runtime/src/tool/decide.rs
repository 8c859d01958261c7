//! A decision of `relay-engine` -> the permit to run, or the error of the call.

use std::sync::Arc;

use relay_bundle::Tier;
use relay_engine::audit_record;
use relay_engine::decide::{self, Decision, Door, Outcome};
use relay_engine::tool::{Offered, ToolSpec};
use relay_policy::location::Location;
use serde_json::{Map, Value};

use super::call::Call;
use super::error::CallError;
use crate::caller::principal::Principal;
use crate::caller::rejection::Rejection;
use crate::caller::truncate;
use crate::record::audit::{Judged, NAMES_MAX};

/// The permission to run a tool. Only [`decide()`] creates one, and every tool requires one.
#[derive(Debug, Clone)]
pub(super) struct Permit {
    spec: &'static ToolSpec,
    principal: Arc<Principal>,
    at: String,
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
    let location = Location::default();
    let asked = decide::Call {
        tool: name,
        arguments,
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
            let principal = call.caller.principal.clone();
            let at = at.as_ref().map(ToString::to_string).unwrap_or_default();
            Ok(Permit { spec: offered.spec, principal, at })
        }
    };
    Ok(Decided { offered, permit, tier, judged: judged(&decision) })
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
