//! The scopes of a policy that hold for a caller and the hosts of its request, and the mode.

use relay_bundle::{Mode, Policy, Scope};
use relay_policy::rule::{Fit, Request};

/// The caller of a request, by its names in the project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Caller<'b> {
    pub(super) tenant: Option<&'b str>,
    pub(super) role: Option<&'b str>,
}

/// The scopes in force: for rules that restrict, and for rules that permit.
pub(super) struct InForce {
    restricting: Vec<bool>,
    permitting: Vec<bool>,
}

impl InForce {
    /// Returns the scopes that hold for a caller and its request.
    pub(super) fn of(policy: &Policy, caller: Caller<'_>, request: &Request<'_>) -> Self {
        Self::where_runs(policy, caller, |scope, is_permit| {
            request.runs_on(&scope.hosts, is_permit)
        })
    }

    /// Returns the scopes that hold for the requests of a caller on the own host.
    pub(super) fn on_own_host(policy: &Policy, caller: Caller<'_>) -> Self {
        Self::where_runs(policy, caller, |_, _| Fit::No)
    }

    /// Returns the scopes that hold for a caller; `runs` says whether the request runs on a host of a
    /// scope that names hosts.
    fn where_runs(policy: &Policy, caller: Caller<'_>, runs: impl Fn(&Scope, bool) -> Fit) -> Self {
        let mut in_force = Self { restricting: Vec::new(), permitting: Vec::new() };
        for scope in &policy.scopes {
            let around = |list: &[bool]| match scope.parent {
                None => true,
                // INVARIANT: a scope follows the one around it.
                Some(parent) => list.get(parent as usize).copied().unwrap_or(false),
            };
            let is_callers = is_of(scope, caller);
            let restricts = is_callers && around(&in_force.restricting);
            let permits = is_callers && around(&in_force.permitting);
            let fit = |is_permit| match scope.hosts.is_empty() {
                true => Fit::Surely,
                false => runs(scope, is_permit),
            };
            in_force.restricting.push(restricts && fit(false) != Fit::No);
            in_force.permitting.push(permits && fit(true) == Fit::Surely);
        }
        in_force
    }

    /// Returns whether a rule of this scope counts.
    pub(super) fn holds(&self, scope: Option<u32>, is_permit: bool) -> bool {
        let list = if is_permit { &self.permitting } else { &self.restricting };
        scope.is_none_or(|scope| list.get(scope as usize).copied().unwrap_or(!is_permit))
    }

    /// Returns the mode, with the number of its scope: a scope inside another one takes precedence,
    /// and of several the narrowest mode.
    pub(super) fn mode(&self, policy: &Policy) -> (Mode, Option<u32>) {
        let with_mode = policy.scopes.iter().enumerate().filter_map(|(number, scope)| {
            Some((u32::try_from(number).ok()?, scope.mode.as_ref()?.value))
        });
        let with_mode: Vec<(u32, Mode)> = with_mode.collect();
        let is_overridden = |number: Option<u32>| {
            with_mode.iter().any(|(inner, _)| {
                self.holds(Some(*inner), true) && parent_with_mode(policy, *inner) == number
            })
        };
        let base = (policy.mode.value, None);
        let scopes = with_mode.iter().filter(|(number, _)| self.holds(Some(*number), false));
        let candidates =
            std::iter::once(base).chain(scopes.map(|(number, mode)| (*mode, Some(*number))));
        // The base stays a candidate while no scope surely replaces it.
        candidates.filter(|(_, number)| !is_overridden(*number)).max().unwrap_or(base)
    }
}

/// Returns the nearest scope around this one that sets a mode.
fn parent_with_mode(policy: &Policy, number: u32) -> Option<u32> {
    let mut next = policy.scopes.get(number as usize)?.parent;
    while let Some(parent) = next {
        let scope = policy.scopes.get(parent as usize)?;
        if scope.mode.is_some() {
            return Some(parent);
        }
        // INVARIANT: a scope follows the one around it, so this ends.
        next = scope.parent.filter(|around| *around < parent);
    }
    None
}

fn is_of(scope: &Scope, caller: Caller<'_>) -> bool {
    let is = |wanted: &Option<String>, given: Option<&str>| {
        wanted.as_deref().is_none_or(|wanted| given == Some(wanted))
    };
    is(&scope.tenant, caller.tenant) && is(&scope.role, caller.role)
}
