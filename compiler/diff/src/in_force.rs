//! The part of a policy in force for the callers of a place, compared with that of another place.
//!
//! Rules are compared by name and kind: a rule that both sides have and that differs is a finding of
//! its own. Rules that raise or lower hold for all callers.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Bundle, CallerRole, Corrupt, Mode, Policy, Rule, RuleKind};
use relay_engine::decide;
use relay_engine::place::number_of;
use relay_engine::view::View;

use crate::scope;

/// A place in a project, by names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Given<'b> {
    pub(crate) tenant: Option<&'b str>,
    pub(crate) role: Option<&'b str>,
}

/// The part of a policy for the callers of a place.
pub(crate) struct InForce<'b> {
    /// The rules that deny, ask or allow, with the hosts for which they hold.
    rules: BTreeMap<(&'b str, RuleKind), Hosts>,
    /// The mode on the own host; absent without a policy.
    mode: Option<Mode>,
    /// The modes of scopes of hosts.
    of_hosts: Vec<String>,
    /// Whether a person is asked before tier 3.
    approves: bool,
    /// Whether they may ask for decisions on the calls of others.
    decides: bool,
}

/// The hosts of scopes; empty for all.
type Hosts = BTreeSet<String>;

/// The differences between the parts in force in two places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Compared {
    /// The gains of callers of the second place, in words.
    pub(crate) gained: Vec<String>,
    /// The names of the rules that make the difference.
    pub(crate) rules: BTreeSet<String>,
    pub(crate) loses: bool,
}

impl<'b> InForce<'b> {
    /// Returns the part of a bundle's policy for a place; `rules` are those of the bundle.
    pub(crate) fn of(
        bundle: &'b Bundle,
        rules: &'b BTreeMap<String, Rule>,
        given: Given<'_>,
        view: &View<'_>,
    ) -> Result<Self, Corrupt> {
        let policy = bundle.policy();
        let scopes = policy.map_or(&[][..], |policy| &policy.scopes);
        let hosts = |number: Option<u32>| -> Option<Hosts> {
            let limits = scope::limits(scopes, number);
            let mut hosts = Hosts::new();
            for (part, name) in limits {
                let is_given = match part {
                    "tenant" => given.tenant == Some(name.as_str()),
                    "role" => given.role == Some(name.as_str()),
                    _ => hosts.insert(name),
                };
                if !is_given {
                    return None;
                }
            }
            Some(hosts)
        };
        let deciding = rules.values().filter(|rule| match rule.kind {
            RuleKind::Deny => !rule.observe,
            RuleKind::Approve | RuleKind::Allow => true,
            RuleKind::Tier | RuleKind::Lower => false,
        });
        let rules = deciding.filter_map(|rule| {
            Some(((rule.name.as_str(), rule.kind), hosts(rule.scope).filter(|_| policy.is_some())?))
        });
        let role = given.role.and_then(|name| number_of(bundle.roles(), name));
        let role = role.and_then(|role| bundle.roles().get(role));
        let approve = role.and_then(|role| role.approve.as_ref());
        Ok(Self {
            rules: rules.collect(),
            mode: decide::mode(view)?,
            of_hosts: policy.map_or_else(Vec::new, |policy| modes_of_hosts(policy, &hosts)),
            approves: policy.is_some() && approve.is_some_and(|it| it.value),
            decides: role.is_some_and(CallerRole::may_ask),
        })
    }

    /// Compares it with the part in force in a place after the change.
    pub(crate) fn compare(&self, after: &Self) -> Compared {
        let mut out = Compared::default();
        for ((name, kind), hosts) in &self.rules {
            let other = after.rules.get(&(*name, *kind));
            // A rule for more hosts has fewer limits.
            let is_kept = other.is_some_and(|other| other.is_subset(hosts));
            match kind {
                RuleKind::Allow => out.loses |= !is_kept,
                _ if !is_kept => out.add(format!("{} `{name}` does not hold", kind.word()), name),
                _ => {}
            }
        }
        for ((name, kind), hosts) in &after.rules {
            let other = self.rules.get(&(*name, *kind));
            let was_held = other.is_some_and(|other| other.is_subset(hosts));
            match kind {
                _ if was_held => {}
                RuleKind::Deny => out.loses = true,
                RuleKind::Approve if !after.is_guarded() => out.loses = true,
                // A person's yes admits calls that the mode refuses.
                _ => out.add(format!("{} `{name}` holds", kind.word()), name),
            }
        }
        self.compare_modes(after, &mut out);
        match (self.approves, after.approves) {
            (true, false) => out.gained.push("no person is asked before tier 3".to_owned()),
            (false, true) if after.is_guarded() => {
                out.gained.push("a person may approve tier 3".to_owned());
            }
            (false, true) => out.loses = true,
            (true, true) | (false, false) => {}
        }
        match (self.decides, after.decides) {
            (true, false) => out.loses = true,
            (false, true) => {
                out.gained.push("decisions on the calls of others may be asked for".to_owned());
            }
            (true, true) | (false, false) => {}
        }
        out
    }

    fn compare_modes(&self, after: &Self, out: &mut Compared) {
        match (self.mode, after.mode) {
            (Some(of_a), Some(of_b)) => {
                if of_b < of_a {
                    out.gained.push(format!("mode {} → {}", of_a.word(), of_b.word()));
                }
                out.loses |= of_b > of_a;
            }
            (None, Some(mode)) => out.gained.push(format!("mode {}", mode.word())),
            (Some(_), None) => out.loses = true,
            (None, None) => {}
        }
        if self.of_hosts != after.of_hosts {
            out.gained.push("scopes of hosts have other modes".to_owned());
            out.loses = true;
        }
    }

    /// Returns whether the mode may be `guarded` on a host.
    fn is_guarded(&self) -> bool {
        self.mode == Some(Mode::Guarded) || !self.of_hosts.is_empty()
    }
}

impl Compared {
    fn add(&mut self, words: String, rule: &str) {
        self.gained.push(words);
        self.rules.insert(rule.to_owned());
    }
}

/// Returns the modes of the scopes of hosts that hold for a place, with those around them, as texts
/// that are equal only for scopes that decide alike; empty without a scope of hosts.
fn modes_of_hosts(policy: &Policy, hosts: &dyn Fn(Option<u32>) -> Option<Hosts>) -> Vec<String> {
    let mut has_hosts = false;
    let mut modes = vec![policy.mode.value.word().to_owned()];
    for (number, scope) in policy.scopes.iter().enumerate() {
        let id = u32::try_from(number).ok();
        let (Some(_), Some(hosts)) = (&scope.mode, hosts(id)) else { continue };
        has_hosts |= !hosts.is_empty();
        modes.push(scope::named_tree(&policy.scopes, number));
    }
    modes.sort_unstable();
    if has_hosts { modes } else { Vec::new() }
}
