//! Whether a call may run, and the permit that says so.

use std::sync::Arc;

use relay_engine::tool::{Offered, ToolSpec};

use super::error::CallError;
use crate::caller::Caller;
use crate::principal::Principal;

/// The highest tier of a tool that needs no policy: it only reads.
const UNDECIDED_TIER_MAX: u8 = 0;

/// The permission to run a tool. Only [`decide`] makes one, and every tool takes one.
#[derive(Debug, Clone)]
pub(super) struct Permit {
    spec: &'static ToolSpec,
    tier: u8,
    principal: Arc<Principal>,
    rule: String,
}

impl Permit {
    /// Returns which tool may run.
    pub(super) fn spec(&self) -> &'static ToolSpec {
        self.spec
    }

    /// Returns up to which tier.
    pub(super) fn tier(&self) -> u8 {
        self.tier
    }

    /// Returns for whom.
    pub(super) fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Returns by which rule: the place in the project that allows it.
    pub(super) fn rule(&self) -> &str {
        &self.rule
    }
}

/// Decides whether a call of `caller` may run.
///
/// Deny rules, role and mode come here, in this order. No bundle of this version has any, and none
/// offers a tool that changes something; one that does is denied, since nothing decides about it.
pub(super) fn decide(offered: &Offered, caller: &Caller) -> Result<Permit, CallError> {
    let &Offered { spec, gated: _, tier, ref place } = offered;
    if tier > UNDECIDED_TIER_MAX {
        return Err(CallError::Denied { tier, reason: "no policy allows it" });
    }
    Ok(Permit { spec, tier, principal: caller.principal.clone(), rule: place.clone() })
}
