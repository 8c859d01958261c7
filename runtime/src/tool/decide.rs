//! Whether a call may run, and the permit that proves it.

use std::sync::Arc;

use relay_bundle::Tier;
use relay_engine::tool::{Offered, ToolSpec};

use super::error::CallError;
use crate::call::Call;
use crate::principal::Principal;

/// The highest tier of a tool that needs no policy: it only reads.
const UNDECIDED_TIER_MAX: Tier = Tier::ReadOnly;

/// The permission to run a tool. Only [`decide`] creates one, and every tool requires one.
#[derive(Debug, Clone)]
pub(super) struct Permit {
    spec: &'static ToolSpec,
    tier: Tier,
    principal: Arc<Principal>,
    rule: String,
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

    /// Returns the rule that allows the call, as its place in the project.
    pub(super) fn rule(&self) -> &str {
        &self.rule
    }
}

/// Decides whether a call may run.
///
/// Deny rules, role and mode come here, in this order. No bundle of this version has rules or a mode,
/// and none offers a tool that changes something; such a tool is denied, since no policy allows it.
pub(super) fn decide(offered: &Offered, call: &Call) -> Result<Permit, CallError> {
    let &Offered { spec, gated: _, tier, ref place } = offered;
    if call.placed.tier_max().is_some_and(|most| tier > most) {
        return Err(CallError::Denied { tier, reason: "it is over the tier of the caller's role" });
    }
    if tier > UNDECIDED_TIER_MAX {
        return Err(CallError::Denied { tier, reason: "no policy allows it" });
    }
    Ok(Permit { spec, tier, principal: call.caller.principal.clone(), rule: place.clone() })
}
