//! Calls that the two sides decide differently, with their callers.
//!
//! A difference of rules follows from their text; whether it matters to anyone is asked here. Both
//! sides decide calls that the difference suggests, and the first one with another outcome is shown.
//! The work is bounded for each difference and for all of them, so a row may stay without one.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use relay_bundle::{Bundle, Scope, Tier};
use relay_engine::authority::Authority;
use relay_engine::decide::{self, Call, Decision, Door, decide};
use relay_engine::place::{Identity, preview};
use relay_engine::tool::SHELL;
use relay_engine::view::View;
use relay_policy::location::Location;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::candidates::Candidate;
use crate::direction::Direction;
use crate::known_facts::KnownFacts;

/// The most calls that both sides decide for one difference: a call of each caller counts.
const CALLS_EACH_MAX: usize = 400;
/// The most calls that both sides decide for one comparison.
const CALLS_MAX: usize = 20_000;
/// The most callers that a call is decided for.
const CALLERS_MAX: usize = 6;
/// The most roles and tenants from which callers are made.
const NAMES_MAX: usize = 8;
/// The most bytes of an argument of a call that shows something.
const ARGUMENT_BYTES_MAX: usize = 200;

/// A call that the two sides decide differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Flip {
    /// The tool; `shell_exec` for a command.
    pub tool: String,
    /// Its arguments.
    pub arguments: BTreeMap<String, String>,
    /// The tenant of the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The role of the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The id of the caller, if its rows of `users` place it on each side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The groups of such a caller.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// The client of the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The environment of the second side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// The decision of the first side.
    pub before: Decided,
    /// The decision of the second side.
    pub after: Decided,
}

/// The decision of one side on a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decided {
    /// `allow`, `approve`, `deny` or `reject`.
    pub outcome: String,
    /// The rule that decides: `policy.NAME` for one of the policy.
    pub rule: String,
    /// The tier of the call.
    pub tier: u8,
}

impl Decided {
    fn of(decision: &Decision) -> Self {
        Self {
            outcome: decision.outcome.word().to_owned(),
            rule: decision.rule_name(),
            tier: decision.tier.number(),
        }
    }
}

impl fmt::Display for Flip {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            tool,
            arguments,
            tenant,
            role,
            user,
            groups,
            client,
            environment,
            before,
            after,
        } = self;
        match arguments.get("command") {
            Some(text) if tool == SHELL && arguments.len() == 1 => {
                write!(out, "`{text}`")?;
            }
            _ => {
                let given = arguments.iter().map(|(name, value)| format!("{name}={value}"));
                let words: Vec<String> = [tool.clone()].into_iter().chain(given).collect();
                write!(out, "`{}`", words.join(" "))?;
            }
        }
        let given = [("role", role), ("tenant", tenant), ("user", user), ("client", client)];
        let given = given.into_iter().filter_map(|(what, name)| Some((what, name.as_ref()?)));
        let groups = groups.iter().map(|group| ("group", group));
        for (what, name) in
            given.chain(groups).chain(environment.iter().map(|environment| ("env", environment)))
        {
            write!(out, ", {what} {name}")?;
        }
        let [before, after] =
            [before, after].map(|decided| format!("{} ({})", decided.outcome, decided.rule));
        write!(out, ": {before} → {after}")
    }
}

/// A caller of both sides, by its names.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Caller {
    pub(crate) tenant: Option<String>,
    pub(crate) role: Option<String>,
}

impl Caller {
    /// Returns the callers of a scope, with those around it.
    pub(crate) fn of_scope(scopes: &[Scope], number: u32) -> Self {
        let mut caller = Self::default();
        let mut next = Some(number);
        while let Some(number) = next {
            let Some(scope) = scopes.get(number as usize) else { break };
            caller.tenant = caller.tenant.or_else(|| scope.tenant.clone());
            caller.role = caller.role.or_else(|| scope.role.clone());
            // INVARIANT: a scope follows the one around it, so this ends.
            next = scope.parent.filter(|parent| *parent < number);
        }
        caller
    }

    /// Returns whether a caller of a scope may be this one: a part that a scope leaves out may be anything.
    fn is_of(&self, scope: &Self) -> bool {
        let is =
            |wanted: &Option<String>, given: &Option<String>| wanted.is_none() || wanted == given;
        is(&scope.tenant, &self.tenant) && is(&scope.role, &self.role)
    }
}

/// Both sides, ready to decide calls.
pub(crate) struct Deciders<'b> {
    authorities: [Authority; 2],
    /// The callers that both sides know, those that may do the most first.
    callers: Vec<(Caller, [View<'b>; 2])>,
    environment: Option<String>,
    /// The number of calls that may still be decided.
    left: Cell<usize>,
}

impl<'b> Deciders<'b> {
    /// Returns the deciders of two bundles with these facts, if both can decide. Callers of the tenants
    /// named here are asked for too.
    pub(crate) fn of(
        sides: [&'b Bundle; 2],
        facts: &KnownFacts,
        tenants: &BTreeSet<&str>,
    ) -> Option<Self> {
        let [a, b] = sides;
        let authorities = [Authority::of(a).ok()?, Authority::of(b).ok()?];
        for (authority, known) in authorities.iter().zip(facts.sides()) {
            if known.is_readable() {
                authority.facts_were_checked();
            }
        }
        let mut roles: Vec<(Tier, &str)> =
            b.roles().iter().map(|role| (role.tier.value, role.name.as_str())).collect();
        roles.sort_by_key(|(tier, name)| (std::cmp::Reverse(*tier), *name));
        roles.truncate(NAMES_MAX);
        let roles: Vec<Option<&str>> = match roles.as_slice() {
            [] => vec![None],
            roles => roles.iter().map(|(_, name)| Some(*name)).collect(),
        };
        let mut callers = Vec::new();
        let tenants = tenants.iter().take(NAMES_MAX).map(|tenant| Some(*tenant));
        for tenant in [None].into_iter().chain(tenants) {
            for role in &roles {
                let view = |bundle| {
                    let identity = Identity { tenant, role: *role, ..Identity::default() };
                    let placement = preview(bundle, &identity).ok()?.ok()?;
                    View::of(bundle, &placement).ok()
                };
                let (Some(of_a), Some(of_b)) = (view(a), view(b)) else { continue };
                let owned = |name: Option<&str>| name.map(str::to_owned);
                let (tenant, role) = (owned(tenant), owned(*role));
                let caller = Caller { tenant, role };
                callers.push((caller, [of_a, of_b]));
            }
        }
        let environment = b.manifest().environment.clone();
        Some(Self { authorities, callers, environment, left: Cell::new(CALLS_MAX) })
    }

    /// Returns the first call that the two sides decide differently, in the direction of a finding,
    /// and for the reason that it is about.
    pub(crate) fn flip(
        &self,
        candidates: impl IntoIterator<Item = Candidate>,
        scopes: &[Caller],
        direction: Direction,
        is_for_it: impl Fn(&Decision, &Decision) -> bool,
    ) -> Option<Flip> {
        // Callers of the scopes come first; others may be the ones that a scope no longer holds.
        let (of_scope, others): (Vec<_>, Vec<_>) = self.callers.iter().partition(|(caller, _)| {
            scopes.is_empty() || scopes.iter().any(|scope| caller.is_of(scope))
        });
        let callers = of_scope.into_iter().chain(others).take(CALLERS_MAX);
        self.first(candidates, callers, |before, after| {
            let is_it = match direction {
                Direction::NotProved => after.outcome < before.outcome,
                Direction::Narrower => after.outcome > before.outcome,
                Direction::Same => after.outcome != before.outcome,
            };
            is_it && is_for_it(before, after)
        })
    }

    /// Returns the first call that is refused less in a place after than in one before. It leaves out
    /// the names of the caller.
    pub(crate) fn flip_of_moved(
        &self,
        candidates: impl IntoIterator<Item = Candidate>,
        views: [View<'b>; 2],
    ) -> Option<Flip> {
        let caller = (Caller::default(), views);
        self.first(candidates, [&caller], |before, after| after.outcome < before.outcome)
    }

    /// Returns the first call of a caller with decisions that are searched.
    fn first<'c>(
        &self,
        candidates: impl IntoIterator<Item = Candidate>,
        callers: impl IntoIterator<Item = &'c (Caller, [View<'b>; 2])>,
        is_it: impl Fn(&Decision, &Decision) -> bool,
    ) -> Option<Flip>
    where
        'b: 'c,
    {
        let callers: Vec<_> = callers.into_iter().collect();
        let mut tried = 0;
        let mut seen = BTreeSet::new();
        for candidate in candidates {
            let is_long = |value: &String| value.len() > ARGUMENT_BYTES_MAX || value.contains('\n');
            if candidate.arguments.values().any(is_long) || !seen.insert(candidate.clone()) {
                continue;
            }
            for (caller, views) in &callers {
                if tried == CALLS_EACH_MAX || self.left.get() == 0 {
                    return None;
                }
                tried += 1;
                self.left.set(self.left.get().saturating_sub(1));
                let [Some(before), Some(after)] = self.decided(&candidate, views) else { continue };
                if is_it(&before, &after) {
                    let Candidate { tool, arguments, client } = candidate;
                    let Caller { tenant, role } = caller.clone();
                    let environment = self.environment.clone();
                    let [before, after] = [&before, &after].map(Decided::of);
                    return Some(Flip {
                        tool,
                        arguments,
                        tenant,
                        role,
                        user: None,
                        groups: Vec::new(),
                        client,
                        environment,
                        before,
                        after,
                    });
                }
            }
        }
        None
    }

    fn decided(&self, candidate: &Candidate, views: &[View<'b>; 2]) -> [Option<Decision>; 2] {
        let Candidate { tool, arguments, client } = candidate;
        let arguments: Map<String, Value> = arguments
            .iter()
            .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
            .collect();
        let location = Location::default();
        let call = Call {
            tool,
            arguments: &arguments,
            client: client.as_deref(),
            location: &location,
            door: Door::Elsewhere,
        };
        let [a, b] = views;
        let [of_a, of_b] = &self.authorities;
        [(a, of_a), (b, of_b)].map(|(view, authority)| decide(view, authority, &call).ok())
    }
}

/// Returns whether a decision is by a rule of this name.
pub(crate) fn is_by(decision: &Decision, rule: &str) -> bool {
    decision.named.as_ref().is_some_and(|named| named.name == rule)
}

/// Returns whether a mode decides.
pub(crate) fn is_by_mode(decision: &Decision) -> bool {
    use decide::Rule::{Mode, ModeGuarded, ModeReadonly};
    matches!(decision.rule, Mode | ModeGuarded | ModeReadonly)
}
