//! A decision of `relay-engine` -> the permit to run, or the error of the call.

use std::sync::Arc;

use relay_bundle::Tier;
use relay_engine::decide::{self, Decision, Door, Outcome};
use relay_engine::tool::{Offered, ToolSpec};
use relay_policy::location::Location;
use serde_json::{Map, Value};

use super::call::Call;
use super::error::CallError;
use crate::caller::principal::Principal;
use crate::caller::rejection::Rejection;
use crate::caller::truncate;

/// The permission to run a tool. Only [`decide()`] creates one, and every tool requires one.
#[derive(Debug, Clone)]
pub(super) struct Permit {
    spec: &'static ToolSpec,
    tier: Tier,
    principal: Arc<Principal>,
    at: String,
}

impl Permit {
    /// Returns the tool that may run.
    pub(super) fn spec(&self) -> &'static ToolSpec {
        self.spec
    }

    /// Returns the tier of the call.
    pub(super) fn tier(&self) -> Tier {
        self.tier
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
    /// The rules that would deny it if they were not only observed, with their places.
    pub(super) observed: Vec<String>,
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
    let reason = match &decision.at {
        Some(at) if decision.named.is_some() => {
            format!("{}: {} ({}:{})", decision.rule_name(), decision.reason(), at.file, at.line)
        }
        _ => decision.reason(),
    };
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
            Ok(Permit { spec: offered.spec, tier, principal, at })
        }
    };
    let observed = decision
        .observed
        .iter()
        .map(|named| format!("policy.{} ({}:{})", named.name, named.at.file, named.at.line));
    Ok(Decided { offered, permit, observed: observed.collect() })
}

/// Returns the tool of a name, visible to the caller or hidden.
pub(super) fn offered<'a>(call: &'a Call, name: &str) -> Option<&'a Offered> {
    call.placed.loaded.tools.iter().find(|offered| offered.spec.name == name)
}
