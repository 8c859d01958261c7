//! The decision whether a call may run, and its rule.
//!
//! The server's door, `relay explain` and `expect` ask [`decide()`], so they agree. The gate is not
//! part of it: it guides callers and forbids nothing.
//!
//! The order is fixed, and the order of lines in a project has no effect: a deny, the tier of the
//! caller's role, the mode `readonly`, an approval, then a rule that allows or the mode (DESIGN 9).

mod asked;
mod call;
mod decision;
mod means;
mod rules;
mod scope;

use relay_bundle::{CallerRole, Corrupt, List, Mode, Place, RuleKind, Tier};
use relay_policy::rule::{Argument, Request};

use self::asked::Asked;
use self::rules::Rules;
use self::scope::{Caller, InForce};
use crate::authority::Authority;
use crate::glob;
use crate::view::View;

pub use self::call::{Call, Door};
pub use self::decision::{Decision, Missed, Named, Outcome, Rule};
pub use self::means::means;

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
    let offered = match visible(view, call.tool)? {
        Visible::NotSeen(at, tier) => return Ok(Decision::by(Rule::NotSeen, tier, Some(at))),
        Visible::NotOffered if call.door == Door::Server => {
            return Ok(Decision::by(Rule::NotOffered, Tier::ReadOnly, None));
        }
        Visible::NotOffered => None,
        Visible::Offered(tool) => Some(tool),
    };
    let bundle = view.bundle();
    let at = offered.map(|tool| &tool.at);
    let (Some(policy), Some(judging)) = (bundle.policy(), authority.rules()) else {
        return Ok(without_policy(view, offered.map(|tool| tool.tier), at));
    };
    let facts = authority.facts(bundle)?;
    let asked = Asked::of(bundle, call, offered.map(|tool| tool.tier), &facts, judging)?;
    let arguments: Vec<Argument<'_>> =
        asked.arguments.iter().map(|(name, value)| Argument { name, value }).collect();
    let hosts: Vec<&str> = asked.hosts.iter().map(String::as_str).collect();
    let request = Request {
        effects: &asked.verdict.effects,
        facts: &facts,
        paths: &judging.paths,
        classes: &judging.classes,
        location: &asked.location,
        tool: call.tool,
        arguments: &arguments,
        hosts: &hosts,
        client: call.client,
        tier: asked.tier,
        text: &asked.text,
    };
    let caller =
        Caller { tenant: view.tenant_name()?, role: view.role().map(|it| it.name.as_str()) };
    let in_force = InForce::of(policy, caller, &request);
    let (mode, mode_scope) = in_force.mode(policy);
    let rules = Rules::of(bundle, &request, &asked.verdict, &in_force)?;
    let mut decision = Decision::by(Rule::ReadOnly, asked.tier, at);
    decision.mode = Some(mode);
    decision.observed = rules.observed()?;
    let decided = |decision: Decision, asked: Asked| Decision {
        verdict: Some(Box::new(asked.verdict)),
        text: asked.text,
        ..decision
    };

    if let Some(named) = rules.first(RuleKind::Deny)? {
        return Ok(decided(decision.named(Rule::Deny, named), asked));
    }
    if asked.tier > view.tier_max() {
        let role = view.role();
        let written = role.and_then(|role| role.tier.at.as_ref());
        let at = written.or(role.map(|role| &role.at)).or(at);
        return Ok(decided(decision.ruled(Rule::RoleTier, at), asked));
    }
    let scope_at = |scope: Option<u32>| {
        let scope = scope.and_then(|number| policy.scopes.get(number as usize));
        let mode = scope.map_or(&policy.mode, |scope| scope.mode.as_ref().unwrap_or(&policy.mode));
        mode.at.as_ref().or(scope.map(|scope| &scope.at)).or(Some(&policy.at))
    };
    if mode == Mode::Readonly && asked.tier > Tier::ReadOnly {
        let ruled = decision.ruled(Rule::ModeReadonly, scope_at(mode_scope));
        return Ok(decided(ruled, asked));
    }
    if let Some(named) = rules.first(RuleKind::Approve)? {
        return Ok(decided(decision.named(Rule::Approve, named), asked));
    }
    if let Some(span) = rules.agent_config() {
        let mut ruled = decision.ruled(Rule::AgentConfig, Some(&policy.at));
        ruled.span = Some(span);
        return Ok(decided(ruled, asked));
    }
    let approves = view.role().filter(|role| role.approve.as_ref().is_some_and(|it| it.value));
    if let Some(role) = approves.filter(|_| asked.tier >= ROLE_APPROVES_TIER_MIN) {
        let at = role.approve.as_ref().and_then(|it| it.at.as_ref()).or(Some(&role.at));
        return Ok(decided(decision.ruled(Rule::RoleApproves, at), asked));
    }
    if mode == Mode::Open || asked.tier < Tier::Stateful {
        let rule = if asked.tier == Tier::ReadOnly { Rule::ReadOnly } else { Rule::Mode };
        return Ok(decided(decision.ruled(rule, scope_at(mode_scope)), asked));
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
    Ok(decided(ruled, asked))
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
fn without_policy(view: &View<'_>, tier: Option<Tier>, at: Option<&Place>) -> Decision {
    // Nothing says what another server's tool does.
    let tier = tier.unwrap_or(Tier::Stateful);
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
