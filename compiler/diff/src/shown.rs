//! The calls that show differences of authority, and the rules of both sides.
//!
//! Every comparison that has no proof asks here for a call that the two sides decide differently.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Bundle, Corrupt, Mode, Policy, Rule, RuleKind};
use relay_engine::decide::{self, Decision};
use relay_engine::view::View;

use crate::candidates::{self, Candidate};
use crate::direction::Direction;
use crate::finding::Finding;
use crate::flip::{Caller, Deciders, Flip, is_by, is_by_mode};
use crate::known_facts::KnownFacts;

/// Both sides, and the calls that show differences.
pub(crate) struct Shown<'s> {
    pub(crate) sides: [&'s Bundle; 2],
    /// The facts of both.
    pub(crate) facts: &'s KnownFacts,
    /// The rules of the first side, by name.
    pub(crate) old: BTreeMap<String, Rule>,
    /// The rules of the second side.
    pub(crate) new: BTreeMap<String, Rule>,
    /// Made for the first difference.
    deciders: OnceCell<Option<Deciders<'s>>>,
}

impl<'s> Shown<'s> {
    pub(crate) fn of(sides: [&'s Bundle; 2], facts: &'s KnownFacts) -> Result<Self, Corrupt> {
        let [a, b] = sides;
        Ok(Self { sides, facts, old: rules(a)?, new: rules(b)?, deciders: OnceCell::new() })
    }

    fn deciders(&self) -> Option<&Deciders<'s>> {
        let made = self.deciders.get_or_init(|| {
            let scopes = self.policies().into_iter().flatten().flat_map(|policy| &policy.scopes);
            let tenants = scopes.filter_map(|scope| scope.tenant.as_deref()).collect();
            Deciders::of(self.sides, self.facts, &tenants)
        });
        made.as_ref()
    }

    pub(crate) fn policies(&self) -> [Option<&'s Policy>; 2] {
        self.sides.map(Bundle::policy)
    }

    pub(crate) fn common(&self) -> Vec<Candidate> {
        candidates::common(self.new.values().chain(self.old.values()))
    }

    /// Adds a call that a side decides by a rule, and the other side otherwise.
    pub(crate) fn rule(&self, found: Finding, old: Option<&Rule>, new: Option<&Rule>) -> Finding {
        let Some(direction) = found.direction.filter(|it| *it != Direction::Same) else {
            return found;
        };
        let [of_a, of_b] = self.policies();
        let sides = [(new, old, of_b), (old, new, of_a)];
        let calls = sides.into_iter().flat_map(|(rule, other, policy)| {
            rule.map_or_else(Vec::new, |rule| candidates::of_rule(rule, other, policy))
        });
        let calls = calls.chain(self.common());
        let callers = [(old, of_a), (new, of_b)]
            .into_iter()
            .filter_map(|(rule, policy)| Some(Caller::of_scope(&policy?.scopes, rule?.scope?)));
        let callers: Vec<Caller> = callers.collect();
        let name = found.subject.name.clone();
        let adjusts = |rule: Option<&Rule>| {
            rule.is_some_and(|rule| matches!(rule.kind, RuleKind::Tier | RuleKind::Lower))
        };
        let adjusts = adjusts(old) || adjusts(new);
        let is_for_it = |before: &Decision, after: &Decision| {
            is_by(before, &name) || is_by(after, &name) || adjusts && before.tier != after.tier
        };
        let flip = self.deciders().and_then(|it| it.flip(calls, &callers, direction, is_for_it));
        found.decided(flip)
    }

    /// Adds a call that the sides decide by these modes; `None` is any other one.
    pub(crate) fn mode(
        &self,
        found: Finding,
        modes: [Option<Mode>; 2],
        scopes: &[(Caller, Vec<String>)],
    ) -> Finding {
        let Some(direction) = found.direction else { return found };
        let hosts = scopes.iter().flat_map(|(_, hosts)| hosts);
        let common = self.common();
        let on_hosts: Vec<Candidate> =
            hosts.flat_map(|host| common.iter().filter_map(|call| call.on_host(host))).collect();
        let callers: Vec<Caller> = scopes.iter().map(|(caller, _)| caller.clone()).collect();
        let is_for_it = |before: &Decision, after: &Decision| {
            let is = |mode: Option<Mode>, decision: &Decision| {
                mode.is_none_or(|mode| decision.mode == Some(mode))
            };
            let [old, new] = modes;
            before.mode != after.mode
                && is(old, before)
                && is(new, after)
                && (is_by_mode(before) || is_by_mode(after))
        };
        let calls = on_hosts.into_iter().chain(common);
        let flip = self.deciders().and_then(|it| it.flip(calls, &callers, direction, is_for_it));
        found.decided(flip)
    }

    /// Adds a call of some candidates that the sides decide differently by rules that name something,
    /// or for any reason without a name.
    pub(crate) fn naming(
        &self,
        found: Finding,
        calls: Vec<Candidate>,
        name: Option<&str>,
    ) -> Finding {
        let Some(direction) = found.direction else { return found };
        let names_it = |rule: &Rule| {
            let mut values =
                rule.conditions.iter().flat_map(|it| it.values.iter().chain(&it.except));
            values.any(|value| Some(value.value.as_str()) == name)
        };
        let rules = self.old.values().chain(self.new.values());
        let naming: BTreeSet<&str> =
            rules.filter(|rule| names_it(rule)).map(|rule| rule.name.as_str()).collect();
        let is_for_it = |before: &Decision, after: &Decision| {
            name.is_none() || naming.iter().any(|rule| is_by(before, rule) || is_by(after, rule))
        };
        let flip = self.deciders().and_then(|it| it.flip(calls, &[], direction, is_for_it));
        found.decided(flip)
    }

    /// Returns a call that is refused less in a place after than in one before, which differ in these
    /// rules.
    pub(crate) fn moved(&self, rules: &BTreeSet<String>, views: [View<'s>; 2]) -> Option<Flip> {
        let policies = self.policies();
        let sides = [(&self.old, policies[0]), (&self.new, policies[1])];
        let named = sides.into_iter().flat_map(|(all, policy)| {
            let named = rules.iter().filter_map(|name| all.get(name));
            named.flat_map(move |rule| candidates::of_rule(rule, None, policy))
        });
        self.deciders()?.flip_of_moved(named.chain(self.common()), views)
    }

    /// Adds a call of a role that asks a person on one side.
    pub(crate) fn approval(&self, found: Finding) -> Finding {
        let (Some(direction), [_, Some(_)]) = (found.direction, self.policies()) else {
            return found;
        };
        let role = Some(found.subject.name.clone());
        let callers = [Caller { tenant: None, role }];
        let is_for_it = |before: &Decision, after: &Decision| {
            [before, after].iter().any(|decision| decision.rule == decide::Rule::RoleApproves)
        };
        let calls = self.common();
        let flip = self.deciders().and_then(|it| it.flip(calls, &callers, direction, is_for_it));
        let name = Some(found.subject.name.clone());
        found.decided(flip.filter(|flip| flip.role == name))
    }

    /// Returns calls with a doubt: commands with it, and programs and tools that rules name.
    pub(crate) fn of_doubt<'c>(&self, commands: impl Iterator<Item = &'c str>) -> Vec<Candidate> {
        let mut calls: Vec<Candidate> = commands.map(Candidate::command).collect();
        let [_, policy] = self.policies();
        calls.extend(self.new.values().flat_map(|rule| candidates::of_rule(rule, None, policy)));
        calls
    }

    /// Returns a finding by which commands are judged higher, with its direction: a rule by which a
    /// caller may do more all the same leaves it without proof.
    pub(crate) fn raised(
        &self,
        mut found: Finding,
        by: Option<String>,
        calls: impl IntoIterator<Item = Candidate>,
    ) -> Finding {
        if by.is_none() || found.direction != Some(Direction::Narrower) {
            return found;
        }
        found.also_by(by.as_deref());
        let found = found.direction(Direction::NotProved);
        let flip = self.loosened(calls);
        found.decided(flip)
    }

    /// Returns a call with another tier or by a rule that is refused less after the change.
    pub(crate) fn loosened(&self, calls: impl IntoIterator<Item = Candidate>) -> Option<Flip> {
        let is_for_it = |before: &Decision, after: &Decision| {
            before.tier != after.tier || before.named.is_some() || after.named.is_some()
        };
        let calls = calls.into_iter().chain(self.common());
        self.deciders()?.flip(calls, &[], Direction::NotProved, is_for_it)
    }
}

fn rules(bundle: &Bundle) -> Result<BTreeMap<String, Rule>, Corrupt> {
    let owned = |rule: Result<relay_bundle::RuleView<'_>, Corrupt>| {
        let rule = rule?.to_owned()?;
        Ok((rule.name.clone(), rule))
    };
    bundle.rules().map(owned).collect()
}
