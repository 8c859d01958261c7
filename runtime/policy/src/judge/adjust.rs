//! The rules of a project that raise the tier of a text, or lower that of its effects.

use std::collections::BTreeSet;
use std::sync::Arc;

use relay_bundle::{Rule, RuleKind};

use super::rules::Rules;
use crate::effect::{CallId, Effect, Effects, Touch, What};
use crate::facts::Facts;
use crate::location::Location;
use crate::paths::is_agent_config;
use crate::rule::{Meaning, Part, Request, Seen};
use crate::span::Span;
use crate::tier::Tier;

/// The most calls of a text that one rule raises apart.
const RAISED_MAX: usize = 256;

/// The facts, rules and location that judge a text.
#[derive(Clone, Copy)]
pub(super) struct Ground<'g> {
    pub(super) facts: &'g Facts<'g>,
    pub(super) rules: &'g Rules,
    pub(super) location: &'g Location,
}

impl<'g> Ground<'g> {
    fn request<'r>(self, effects: &'r Effects, seen: &'r Seen) -> Request<'r>
    where
        'g: 'r,
    {
        let Self { facts, rules, location } = self;
        Request {
            effects,
            facts,
            paths: &rules.paths,
            classes: &rules.classes,
            inventory: &rules.inventory,
            location,
            tool: "",
            arguments: &[],
            hosts: &[],
            client: None,
            tier: Tier::ReadOnly,
            text: "",
            seen,
        }
    }

    /// Adds an effect for each part of the text that a rule may raise, so that a rule that lowers one
    /// part leaves the others raised.
    pub(super) fn raise(self, effects: &mut Effects) {
        let raised: Vec<(u16, Span, Option<CallId>)> = {
            let seen = Seen::default();
            let request = self.request(effects, &seen);
            let rules = self.rules.adjust.iter().enumerate();
            let raising = rules.filter(|(_, rule)| rule.kind == RuleKind::Tier);
            let parts = |(number, rule): (usize, &Arc<Rule>)| {
                // INVARIANT: such a rule has no regex, the only condition that reads the bundle.
                let mut parts = Meaning::of_rule(rule).parts(&request).unwrap_or_default();
                let mut seen = BTreeSet::new();
                parts.retain(|part| seen.insert(part.call));
                if parts.len() > RAISED_MAX {
                    // No rule lowers what belongs to no call.
                    parts.truncate(RAISED_MAX);
                    parts.extend(parts.first().map(|part| Part { call: None, ..*part }));
                }
                let number = u16::try_from(number).unwrap_or(u16::MAX);
                let raised =
                    |part: Part| (number, part.span.unwrap_or_else(|| Span::new(0, 0)), part.call);
                parts.into_iter().map(raised).collect::<Vec<_>>()
            };
            raising.flat_map(parts).collect()
        };
        for (number, span, call) in raised {
            effects.raised(What::Raised(number), span, call);
        }
    }

    /// Returns the rule that lowers an effect of this tier the most; `None` if none does.
    pub(super) fn lower(
        self,
        effects: &'g Effects,
        effect: &Effect,
        tier: Tier,
    ) -> Option<&'g Arc<Rule>> {
        let lowering =
            self.rules.adjust.iter().filter(|rule| {
                rule.kind == RuleKind::Lower && rule.tier.is_some_and(|to| to < tier)
            });
        let mut lowering = lowering.peekable();
        lowering.peek()?;
        // No rule lowers what changes the settings of agents.
        if changes_agents(effects, effect) {
            return None;
        }
        let seen = Seen::default();
        let request = self.request(effects, &seen);
        let covers = |rule: &&Arc<Rule>| {
            // INVARIANT: as above.
            Meaning::of_rule(rule).covers(&request, effect).unwrap_or(false)
        };
        lowering.filter(covers).min_by_key(|rule| rule.tier)
    }
}

/// Returns whether an effect changes settings or hooks of an agent's client, or relay's own files.
#[must_use]
pub fn changes_agents(effects: &Effects, effect: &Effect) -> bool {
    match effect.what {
        What::Path { touch, path, .. } if touch != Touch::Read => {
            is_agent_config(effects.bytes_of(path))
        }
        _ => false,
    }
}
