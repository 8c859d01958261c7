//! A decision: its outcome, its rule and its reason.

use relay_bundle::{Mode, Place, Tier};
use relay_policy::classify::Verdict;
use relay_policy::span::Span;

/// The decision on one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The outcome of the call.
    pub outcome: Outcome,
    /// The tier of the call; 0 for a tool that the project does not offer.
    pub tier: Tier,
    /// The kind of the deciding rule.
    pub rule: Rule,
    /// The rule of the policy; `None` for others.
    pub named: Option<Named>,
    /// The place of the deciding declaration, where there is one.
    pub at: Option<Place>,
    /// The mode in force; `None` without a policy.
    pub mode: Option<Mode>,
    /// The bytes of the text that decide, if some do.
    pub span: Option<Span>,
    /// The denials that would decide if they were not only observed.
    pub observed: Vec<Named>,
    /// The rule that comes nearest to allowing the call.
    pub nearest: Option<Missed>,
    /// The text for a shell; empty for other tools.
    pub text: String,
    /// The effects of the call and their tiers; `None` if the policy was not asked.
    pub verdict: Option<Box<Verdict>>,
}

/// A rule of the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// Its reason.
    pub because: Option<String>,
    /// The shipped policy that it comes from.
    pub origin: Option<String>,
    /// The seconds for which a yes of a person counts, if the rule says it.
    pub ttl_s: Option<u32>,
    /// Its place.
    pub at: Place,
    /// The bytes of the text that it means; `None` for the request as a whole.
    pub span: Option<Span>,
    /// Whether it only may mean them, since a part is not known.
    pub is_doubtful: bool,
}

/// A rule that would allow a call but for some of its selectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missed {
    /// Its name.
    pub name: String,
    /// Its place.
    pub at: Place,
    /// The selectors that do not mean the call, or the part that it does not name.
    pub fails_on: Vec<String>,
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It runs.
    Allow,
    /// A person is asked first.
    Approve,
    /// It is denied: the caller reads the reason.
    Deny,
    /// The request is rejected: the tool does not exist for this caller.
    Reject,
}

/// The kind of the rule that decides a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The project does not offer the tool, and the caller's role may see it on another server.
    NotOffered,
    /// The caller does not see the tool: either an offered tool, or any tool that its role's
    /// `tools` omit.
    NotSeen,
    /// A `deny` of the policy.
    Deny,
    /// The call names a host outside the project, whose `hosts` refuse such.
    OutsideHost,
    /// The tier of the call is over the tier of the caller's role.
    RoleTier,
    /// The tier of the call needs a policy that allows it.
    NoPolicy,
    /// The mode permits tier 0 alone.
    ModeReadonly,
    /// An `approve` of the policy.
    Approve,
    /// The call may change what agents may do.
    AgentConfig,
    /// The role of the caller asks a person first.
    RoleApproves,
    /// The mode needs a rule that allows every part of the call.
    ModeGuarded,
    /// An `allow` of the policy.
    Allow,
    /// The mode permits the call.
    Mode,
    /// The call only reads.
    ReadOnly,
}

impl Outcome {
    /// Returns its word in reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Approve => "approve",
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
            Self::Deny => "deny",
            Self::OutsideHost => "outside-host",
            Self::RoleTier => "role-tier",
            Self::NoPolicy => "no-policy",
            Self::ModeReadonly => "mode-readonly",
            Self::Approve => "approve",
            Self::AgentConfig => "agent-config",
            Self::RoleApproves => "role-approves",
            Self::ModeGuarded => "mode-guarded",
            Self::Allow => "allow",
            Self::Mode => "mode",
            Self::ReadOnly => "read-only",
        }
    }

    /// Returns the reason, for agents and records.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::NotOffered => "unknown tool",
            Self::NotSeen => "this tool is not for the caller",
            Self::Deny => "a rule denies it",
            Self::OutsideHost => "it names a host that the project does not list",
            Self::RoleTier => "it is over the tier of the caller's role",
            Self::NoPolicy => "no policy allows it",
            Self::ModeReadonly => "readonly mode permits tier 0 only",
            Self::Approve => "a person must approve it",
            Self::AgentConfig => "it may change what agents may do, which a person must approve",
            Self::RoleApproves => "the caller's role asks a person before tier 3",
            Self::ModeGuarded => "guarded mode needs a rule that allows it",
            Self::Allow => "a rule allows it",
            Self::Mode => "the mode permits its tier",
            Self::ReadOnly => "it only reads, which needs no policy",
        }
    }

    const fn outcome(self) -> Outcome {
        match self {
            Self::NotOffered | Self::NotSeen => Outcome::Reject,
            Self::Deny
            | Self::OutsideHost
            | Self::RoleTier
            | Self::NoPolicy
            | Self::ModeReadonly
            | Self::ModeGuarded => Outcome::Deny,
            Self::Approve | Self::AgentConfig | Self::RoleApproves => Outcome::Approve,
            Self::Allow | Self::Mode | Self::ReadOnly => Outcome::Allow,
        }
    }
}

impl Decision {
    /// Returns a decision by a rule that is not one of the policy.
    pub(super) fn by(rule: Rule, tier: Tier, at: Option<&Place>) -> Self {
        Self {
            outcome: rule.outcome(),
            tier,
            rule,
            named: None,
            at: at.cloned(),
            mode: None,
            span: None,
            observed: Vec::new(),
            nearest: None,
            text: String::new(),
            verdict: None,
        }
    }

    /// Returns the same decision by another rule.
    pub(super) fn ruled(self, rule: Rule, at: Option<&Place>) -> Self {
        Self { outcome: rule.outcome(), rule, at: at.cloned(), ..self }
    }

    /// Returns the same decision by a rule of the policy.
    pub(super) fn named(self, rule: Rule, named: Named) -> Self {
        let (at, span) = (Some(named.at.clone()), named.span);
        Self { outcome: rule.outcome(), rule, at, span, named: Some(named), ..self }
    }

    /// Returns the name of the rule in reports and records.
    #[must_use]
    pub fn rule_name(&self) -> String {
        match &self.named {
            Some(named) => format!("policy.{}", named.name),
            None => self.rule.name().to_owned(),
        }
    }

    /// Returns the reason, for agents and records: that of the rule of the policy, where it has one.
    #[must_use]
    pub fn reason(&self) -> String {
        match self.named.as_ref() {
            Some(Named { name, because: Some(because), .. }) => format!("{name}: {because}"),
            Some(Named { name, because: None, .. }) => {
                format!("{}: {name}", self.rule.reason())
            }
            None => self.rule.reason().to_owned(),
        }
    }

    /// Returns the text of a refusal for the caller: the reason, and the place of the rule.
    #[must_use]
    pub fn denial(&self) -> String {
        let word = match self.outcome {
            Outcome::Approve => "CONFIRM REQUIRED",
            _ => "DENIED",
        };
        self.refusal(word, "")
    }

    /// Returns the text of a refusal of a call that a person was asked about; `why` follows the reason.
    #[must_use]
    pub fn unapproved(&self, why: &str) -> String {
        self.refusal("DENIED", &format!("; {why}"))
    }

    fn refusal(&self, word: &str, more: &str) -> String {
        let (tier, name, reason) = (self.tier.number(), self.tier.name(), self.reason());
        let at = match &self.at {
            Some(at) if self.named.is_some() => format!(" ({}:{})", at.file, at.line),
            _ => String::new(),
        };
        // An agent that writes the word out may be permitted.
        let doubt = match &self.named {
            Some(named) if named.is_doubtful => "; a word or code that is not known may be meant",
            _ => "",
        };
        format!("[{word} tier {tier} ({name}): {reason}{doubt}{more}{at}]")
    }
}
