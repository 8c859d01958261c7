//! A decision of `relay-engine` -> the permit to run, or the error of the call.

use std::sync::Arc;

use relay_bundle::Tier;
use relay_engine::decide::{self, Decision, Outcome};
use relay_engine::tool::{Offered, ToolSpec};

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
}

/// Decides by `relay-engine` whether a call may run. A tool hidden from the caller is rejected like
/// an unknown one.
pub(super) fn decide<'c>(call: &'c Call, name: &str) -> Result<Decided<'c>, Rejection> {
    let view = call.placed.view()?;
    let decision = decide::decide(&view, &decide::Call { tool: name })?;
    let Decision { outcome, tier, rule, at } = decision;
    let reject = || {
        let name = truncate(name);
        let text = format!("unknown tool `{name}`: tools/list names the available tools");
        Rejection::Wrong { text, rule: rule.reason().to_owned() }
    };
    let offered = offered(call, name).ok_or_else(reject)?;
    let permit = match outcome {
        Outcome::Reject => return Err(reject()),
        Outcome::Deny => Err(CallError::Denied { denial: decision.denial(), rule }),
        Outcome::Allow => {
            let principal = call.caller.principal.clone();
            let at = at.map(ToString::to_string).unwrap_or_default();
            Ok(Permit { spec: offered.spec, tier, principal, at })
        }
    };
    Ok(Decided { offered, permit })
}

/// Returns the tool of a name, visible to the caller or hidden.
pub(super) fn offered<'a>(call: &'a Call, name: &str) -> Option<&'a Offered> {
    call.placed.loaded.tools.iter().find(|offered| offered.spec.name == name)
}
