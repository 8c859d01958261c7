//! The decision whether a call may run, and its rule.
//!
//! The server's door, `relay explain` and `expect` ask [`decide()`], so they agree. The gate is not
//! part of it: it guides callers and forbids nothing.
//!
//! The order is fixed, and the order of lines in a project has no effect: a deny, the tier of the
//! caller's role, the mode `readonly`, an approval, then a rule that allows or the mode (DESIGN 9).

mod answer;
mod asked;
mod call;
mod decision;
mod hosts;
mod means;
mod rules;
mod scope;

use std::collections::BTreeSet;

use relay_bundle::{CallerRole, Corrupt, Hosts, List, Mode, Outside, Place, RuleKind, Tier};

use relay_policy::facts::Facts;

use self::asked::Asked;
use self::rules::Rules;
use self::scope::{Caller, InForce};
use crate::authority::Authority;
use crate::glob;
use crate::rule_keys::{Concerned, Keyed};
use crate::tool;
use crate::view::View;

pub use self::answer::{Answer, Change};
pub use self::call::{Call, ClientTool, Door};
pub use self::decision::{Decision, Missed, Named, Outcome, Rule};
pub use self::means::{Tried, rule_named};

/// The highest tier of a call without a policy: it only reads.
const WITHOUT_POLICY_TIER_MAX: Tier = Tier::ReadOnly;
/// The lowest tier that a person with the right to approve is asked about.
const ROLE_APPROVES_TIER_MIN: Tier = Tier::Irreversible;

/// Whether a caller sees a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visible<'b> {
    /// The project offers it, and the caller sees it.
    Offered(&'b relay_bundle::Tool),
    /// The project does not offer it, and the caller's role may see it on another server.
    NotOffered,
    /// The caller does not see it; the place says why. A tool that the project offers has a tier.
    NotSeen(&'b Place, Tier),
}

/// Returns whether a caller sees a tool.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn visible<'b>(view: &View<'b>, tool: &str) -> Result<Visible<'b>, Corrupt> {
    let mut tools = view.bundle().tools().iter().enumerate();
    let Some((row, found)) = tools.find(|(_, offered)| offered.name == tool) else {
        // Another server may offer it: the tools of a role select which of those the role sees.
        let hides = |role: &&CallerRole| {
            let patterns = role.tools.as_ref();
            patterns.is_some_and(|all| !all.iter().any(|it| glob::matches(&it.value, tool)))
        };
        return Ok(match view.role().filter(hides) {
            Some(role) => Visible::NotSeen(&role.at, Tier::ReadOnly),
            None => Visible::NotOffered,
        });
    };
    let role_at = view.role().map_or(&found.at, |role| &role.at);
    Ok(match view.sees(List::Tools, row)? {
        true => Visible::Offered(found),
        false => Visible::NotSeen(role_at, found.tier),
    })
}

/// Decides whether a call may run.
///
/// A project without roles does not limit the tiers of callers.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn decide(
    view: &View<'_>,
    authority: &Authority,
    call: &Call<'_>,
) -> Result<Decision, Corrupt> {
    Ok(match placed(view, authority, call)? {
        Placed::Decided(decision) => *decision,
        Placed::Asked(asked, offered) => {
            let decision = by_policy(view, authority, call, (&asked, offered), None)?;
            let Asked { verdict, text, .. } = *asked;
            Decision { verdict: Some(Box::new(verdict)), text, ..decision }
        }
    })
}

/// A call before rules are asked.
enum Placed<'b> {
    /// It is decided without a policy.
    Decided(Box<Decision>),
    /// Its effects, and the place of its tool if the project offers it.
    Asked(Box<Asked>, Option<&'b Place>),
}

fn placed<'b>(
    view: &View<'b>,
    authority: &Authority,
    call: &Call<'_>,
) -> Result<Placed<'b>, Corrupt> {
    let decided = |decision| Ok(Placed::Decided(Box::new(decision)));
    // The tools of a role are those of servers: a client's own have no server.
    let is_own = matches!(call.door, Door::Client(_)) && tool::reach(call.tool).is_none();
    let visible = if is_own { Visible::NotOffered } else { visible(view, call.tool)? };
    let offered = match visible {
        Visible::NotSeen(at, tier) => return decided(Decision::by(Rule::NotSeen, tier, Some(at))),
        Visible::NotOffered if call.door == Door::Server => {
            return decided(Decision::by(Rule::NotOffered, Tier::ReadOnly, None));
        }
        Visible::NotOffered => None,
        Visible::Offered(tool) => Some(tool),
    };
    let bundle = view.bundle();
    let (at, tier) = (offered.map(|tool| &tool.at), offered.map(|tool| tool.tier));
    let (Some(_), Some(judging)) = (bundle.policy(), authority.rules()) else {
        return decided(without_policy(view, call.tool, tier, at));
    };
    let facts = authority.facts(bundle)?;
    let asked = Asked::of(bundle, call, tier, &facts, judging)?;
    Ok(Placed::Asked(Box::new(asked), at))
}

/// Decides a call by the rules of the policy, one of which may be changed.
fn by_policy(
    view: &View<'_>,
    authority: &Authority,
    call: &Call<'_>,
    (asked, at): (&Asked, Option<&Place>),
    change: Option<Change<'_>>,
) -> Result<Decision, Corrupt> {
    let bundle = view.bundle();
    let (Some(policy), Some(judging)) = (bundle.policy(), authority.rules()) else {
        return Ok(without_policy(view, call.tool, Some(asked.tier), at));
    };
    let facts = authority.facts(bundle)?;
    let given = asked.given();
    let asks = (call.tool, call.client);
    let request = asked.request(asks, (&facts, judging), &given);
    let caller =
        Caller { tenant: view.tenant_name()?, role: view.role().map(|it| it.name.as_str()) };
    let in_force = InForce::of(policy, caller, &request);
    let (mode, mode_scope) = in_force.mode(policy);
    let rules = Rules::of(bundle, &request, &in_force, change)?;
    let mut decision = Decision::by(Rule::ReadOnly, asked.tier, at);
    decision.mode = Some(mode);
    decision.observed = rules.observed()?;

    if let Some(named) = rules.first(RuleKind::Deny)? {
        return Ok(decision.named(Rule::Deny, named));
    }
    let refuses = |hosts: &&Hosts| hosts.outside.value == Outside::Refuse;
    if let Some(hosts) = bundle.hosts().filter(refuses).filter(|_| asked.is_outside) {
        let at = hosts.outside.at.as_ref().unwrap_or(&hosts.at);
        return Ok(decision.ruled(Rule::OutsideHost, Some(at)));
    }
    if asked.tier > view.tier_max() {
        let role = view.role();
        let written = role.and_then(|role| role.tier.at.as_ref());
        let at = written.or(role.map(|role| &role.at)).or(at);
        return Ok(decision.ruled(Rule::RoleTier, at));
    }
    let scope_at = |scope: Option<u32>| {
        let scope = scope.and_then(|number| policy.scopes.get(number as usize));
        let mode = scope.map_or(&policy.mode, |scope| scope.mode.as_ref().unwrap_or(&policy.mode));
        mode.at.as_ref().or(scope.map(|scope| &scope.at)).or(Some(&policy.at))
    };
    if mode == Mode::Readonly && asked.tier > Tier::ReadOnly {
        let ruled = decision.ruled(Rule::ModeReadonly, scope_at(mode_scope));
        return Ok(ruled);
    }
    if let Some(named) = rules.first(RuleKind::Approve)? {
        return Ok(decision.named(Rule::Approve, named));
    }
    if let Some(span) = rules.agent_config() {
        let mut ruled = decision.ruled(Rule::AgentConfig, Some(&policy.at));
        ruled.span = Some(span);
        return Ok(ruled);
    }
    let approves = view.role().filter(|role| role.approve.as_ref().is_some_and(|it| it.value));
    if let Some(role) = approves.filter(|_| asked.tier >= ROLE_APPROVES_TIER_MIN) {
        let at = role.approve.as_ref().and_then(|it| it.at.as_ref()).or(Some(&role.at));
        return Ok(decision.ruled(Rule::RoleApproves, at));
    }
    if mode == Mode::Open || asked.tier < Tier::Stateful {
        let rule = if asked.tier == Tier::ReadOnly { Rule::ReadOnly } else { Rule::Mode };
        return Ok(decision.ruled(rule, scope_at(mode_scope)));
    }
    let covered = rules.covered(&asked.verdict, asked.own_tier)?;
    let ruled = match covered {
        rules::Covered::By(Some(named)) => decision.named(Rule::Allow, named),
        // INVARIANT: tier 2 comes from an effect, or from the tool itself.
        rules::Covered::By(None) => decision.ruled(Rule::ModeGuarded, scope_at(mode_scope)),
        rules::Covered::Not { span, missed } => {
            let mut ruled = decision.ruled(Rule::ModeGuarded, scope_at(mode_scope));
            ruled.span = span;
            ruled.nearest = missed;
            ruled
        }
    };
    Ok(ruled)
}

/// A call that is decided again and again, each time under a policy that differs in one rule.
///
/// The call is taken apart once, which costs most of a decision.
pub struct Trial<'t> {
    view: &'t View<'t>,
    call: Call<'t>,
    placed: Placed<'t>,
}

impl<'t> Trial<'t> {
    /// Takes a call apart.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn of(view: &'t View<'t>, authority: &Authority, call: Call<'t>) -> Result<Self, Corrupt> {
        Ok(Self { view, call, placed: placed(view, authority, &call)? })
    }

    /// Decides the call, with one rule changed. The decision has neither text nor effects.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn decide(
        &self,
        authority: &Authority,
        change: Option<Change<'_>>,
    ) -> Result<Decision, Corrupt> {
        match &self.placed {
            Placed::Decided(decision) => Ok(Decision::clone(decision)),
            Placed::Asked(asked, at) => {
                by_policy(self.view, authority, &self.call, (asked, *at), change)
            }
        }
    }

    /// Returns the answer of a rule to it; `None` if no rule is asked.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn answer(
        &self,
        (authority, facts): (&Authority, &Facts<'_>),
        rule: &relay_bundle::Rule,
    ) -> Result<Option<Answer>, Corrupt> {
        let Placed::Asked(asked, _) = &self.placed else { return Ok(None) };
        let asks = (self.call.tool, self.call.client);
        Answer::of(self.view.bundle(), (authority, facts), rule, asks, asked)
    }

    /// Returns the keys of the rules that it may concern; `None` if it may concern any rule.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn keys(
        &self,
        (authority, facts): (&Authority, &Facts<'_>),
    ) -> Result<Option<BTreeSet<String>>, Corrupt> {
        let (Placed::Asked(asked, _), Some(judging)) = (&self.placed, authority.rules()) else {
            return Ok(Some(BTreeSet::new()));
        };
        asked.keys(self.view.bundle(), self.call.tool, (facts, judging))
    }

    /// Returns the rules that the index finds for it; `None` if no rule is asked.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn concerned(
        &self,
        (authority, facts): (&Authority, &Facts<'_>),
    ) -> Result<Option<Concerned>, Corrupt> {
        let (Placed::Asked(asked, _), Some(judging)) = (&self.placed, authority.rules()) else {
            return Ok(None);
        };
        let given = asked.given();
        let asks = (self.call.tool, self.call.client);
        let request = asked.request(asks, (facts, judging), &given);
        Keyed { bundle: self.view.bundle(), request: &request }.concerned().map(Some)
    }
}

/// Returns the mode of the policy for the caller of a view, on the own host; `None` without a policy.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn mode(view: &View<'_>) -> Result<Option<Mode>, Corrupt> {
    let Some(policy) = view.bundle().policy() else { return Ok(None) };
    let caller =
        Caller { tenant: view.tenant_name()?, role: view.role().map(|it| it.name.as_str()) };
    Ok(Some(InForce::on_own_host(policy, caller).mode(policy).0))
}

/// Decides a call in a project without a policy.
fn without_policy(view: &View<'_>, tool: &str, tier: Option<Tier>, at: Option<&Place>) -> Decision {
    // The effects of a text are unknown, and so are those of another server's tool.
    let runs_text = tool::reach(tool).is_some_and(|reach| reach.text.is_some());
    let tier = match tier {
        Some(_) if runs_text => Tier::Irreversible,
        Some(tier) => tier,
        None => Tier::Stateful,
    };
    let role = view.role();
    let rule = if tier > view.tier_max() {
        Rule::RoleTier
    } else if tier > WITHOUT_POLICY_TIER_MAX {
        Rule::NoPolicy
    } else {
        Rule::ReadOnly
    };
    let at = match rule {
        Rule::RoleTier => role.map(|role| role.tier.at.as_ref().unwrap_or(&role.at)).or(at),
        _ => at,
    };
    Decision::by(rule, tier, at)
}
