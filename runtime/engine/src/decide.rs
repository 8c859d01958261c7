//! The decision whether a call may run, and its rule.
//!
//! The server's door, `relay explain --call` and `expect` ask [`decide()`], so they agree. The gate
//! is not part of it: it guides callers and forbids nothing.

use relay_bundle::{CallerRole, Corrupt, List, Place, Tier};

use crate::glob;
use crate::view::View;

/// The highest tier of a call without a policy: it only reads.
const WITHOUT_POLICY_TIER_MAX: Tier = Tier::ReadOnly;

/// A call to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call<'c> {
    /// The name of the tool, as sent by the caller.
    pub tool: &'c str,
}

/// The decision on one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision<'b> {
    /// The outcome of the call.
    pub outcome: Outcome,
    /// The tier of the call; 0 for a tool that the project does not offer.
    pub tier: Tier,
    /// The deciding rule.
    pub rule: Rule,
    /// The place of the declaration that the rule uses; `None` for [`Rule::NotOffered`].
    pub at: Option<&'b Place>,
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It runs.
    Allow,
    /// It is denied: the caller reads the reason.
    Deny,
    /// The request is rejected: the tool does not exist for this caller.
    Reject,
}

/// The rule that decides a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The project does not offer the tool, and the caller's role may see it on another server.
    NotOffered,
    /// The caller does not see the tool: either an offered tool, or any tool that its role's
    /// `tools` omit.
    NotSeen,
    /// The tier of the call is over the tier of the caller's role.
    RoleTier,
    /// The tier of the call needs a policy that allows it.
    NoPolicy,
    /// The call only reads.
    ReadOnly,
}

impl Outcome {
    /// Returns its word in reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Reject => "reject",
        }
    }
}

impl Rule {
    /// Returns its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotOffered => "not-offered",
            Self::NotSeen => "not-seen",
            Self::RoleTier => "role-tier",
            Self::NoPolicy => "no-policy",
            Self::ReadOnly => "read-only",
        }
    }

    /// Returns the reason, for agents and records.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::NotOffered => "unknown tool",
            Self::NotSeen => "this tool is not for the caller",
            Self::RoleTier => "it is over the tier of the caller's role",
            Self::NoPolicy => "no policy allows it",
            Self::ReadOnly => "it only reads, which needs no policy",
        }
    }

    const fn outcome(self) -> Outcome {
        match self {
            Self::NotOffered | Self::NotSeen => Outcome::Reject,
            Self::RoleTier | Self::NoPolicy => Outcome::Deny,
            Self::ReadOnly => Outcome::Allow,
        }
    }
}

impl Decision<'_> {
    /// Returns the text of a denial for the caller.
    #[must_use]
    pub fn denial(&self) -> String {
        let Self { outcome: _, tier, rule, at: _ } = self;
        format!("[DENIED tier {} ({}): {}]", tier.number(), tier.name(), rule.reason())
    }
}

/// Decides whether a call may run.
///
/// A project without roles does not limit the tiers of callers.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn decide<'b>(view: &View<'b>, call: &Call<'_>) -> Result<Decision<'b>, Corrupt> {
    let mut tools = view.bundle().tools().iter().enumerate();
    let Some((row, tool)) = tools.find(|(_, tool)| tool.name == call.tool) else {
        // Another server may offer it: the tools of a role select which of those the role sees.
        let hides = |role: &&CallerRole| {
            let patterns = role.tools.as_ref();
            patterns.is_some_and(|all| !all.iter().any(|it| glob::matches(&it.value, call.tool)))
        };
        return Ok(match view.role().filter(hides) {
            Some(role) => by(Rule::NotSeen, Tier::ReadOnly, Some(&role.at)),
            None => by(Rule::NotOffered, Tier::ReadOnly, None),
        });
    };
    let role = view.role();
    let role_at = role.map_or(&tool.at, |role| &role.at);
    let (rule, at) = if !view.sees(List::Tools, row)? {
        (Rule::NotSeen, role_at)
    } else if tool.tier > view.tier_max() {
        let written = role.and_then(|role| role.tier.at.as_ref());
        (Rule::RoleTier, written.unwrap_or(role_at))
    } else if tool.tier > WITHOUT_POLICY_TIER_MAX {
        (Rule::NoPolicy, &tool.at)
    } else {
        (Rule::ReadOnly, &tool.at)
    };
    Ok(by(rule, tool.tier, Some(at)))
}

fn by(rule: Rule, tier: Tier, at: Option<&Place>) -> Decision<'_> {
    Decision { outcome: rule.outcome(), tier, rule, at }
}
