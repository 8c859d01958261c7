//! The rules of a policy that a request may concern, asked about it.

use relay_bundle::{Bundle, Corrupt, Rule, RuleKind, RuleView, Tier};
use relay_policy::classify::{Verdict, changes_agents};
use relay_policy::effect::Effect;
use relay_policy::rule::{Fit, Meaning, Part, Request};
use relay_policy::span::Span;

use super::answer::Change;
use super::decision::{Missed, Named};
use super::scope::InForce;
use crate::rule_keys::Keyed;

/// The most rules that are compared to find the one that came nearest to covering an effect.
const NEAR_RULES_MAX: usize = 64;

/// The rules that a request may concern and whose scope is in force.
pub(super) struct Rules<'r> {
    bundle: &'r Bundle,
    request: &'r Request<'r>,
    in_force: &'r InForce,
    change: Option<Change<'r>>,
    rules: Vec<Candidate<'r>>,
}

/// A rule that a request may concern.
#[derive(Clone, Copy)]
struct Candidate<'r> {
    kind: RuleKind,
    rule: RuleView<'r>,
    changed: Option<&'r Rule>,
}

/// Whether rules allow all of a request.
pub(super) enum Covered {
    /// All of it, the worst part by this rule.
    By(Option<Named>),
    /// Not this part.
    Not { span: Option<Span>, missed: Option<Missed> },
}

impl<'r> Rules<'r> {
    pub(super) fn of(
        bundle: &'r Bundle,
        request: &'r Request<'r>,
        in_force: &'r InForce,
        change: Option<Change<'r>>,
    ) -> Result<Self, Corrupt> {
        let numbers = Keyed { bundle, request }.candidates()?;
        let mut rules = Self { bundle, request, in_force, change, rules: Vec::new() };
        rules.rules = rules.candidates(numbers)?;
        Ok(rules)
    }

    /// Returns the rules of these numbers that are in force, and the changed one.
    fn candidates(&self, mut numbers: Vec<u32>) -> Result<Vec<Candidate<'r>>, Corrupt> {
        if let Some(change) = self.change
            && let Err(place) = numbers.binary_search(&change.number)
        {
            numbers.insert(place, change.number);
        }
        let mut rules = Vec::with_capacity(numbers.len());
        for number in numbers {
            let rule = self.bundle.rule(number as usize)?;
            let kind = rule.kind()?;
            if !self.in_force.holds(rule.scope(), kind == RuleKind::Allow) {
                continue;
            }
            let changed = match self.change.filter(|change| change.number == number) {
                Some(Change { rule: None, .. }) => continue,
                Some(Change { rule: changed, .. }) => changed,
                None => None,
            };
            rules.push(Candidate { kind, rule, changed });
        }
        Ok(rules)
    }

    /// Returns the rules of a kind, with their conditions: those that are only observed, or the others.
    fn of_kind(
        &self,
        kind: RuleKind,
        observed: bool,
    ) -> impl Iterator<Item = Result<(RuleView<'r>, Meaning<'r>), Corrupt>> {
        // Of most rules nothing else is read.
        let of_kind = self.rules.iter().filter(move |candidate| {
            candidate.kind == kind && candidate.rule.observe() == observed
        });
        of_kind.map(|candidate| Ok((candidate.rule, candidate.meaning(self.bundle)?)))
    }

    /// Returns the rule of a kind that means the request, the surest first; rules that are only
    /// observed do not count.
    pub(super) fn first(&self, kind: RuleKind) -> Result<Option<Named>, Corrupt> {
        let mut best: Option<(Fit, Named)> = None;
        for asked in self.of_kind(kind, false) {
            let (rule, meaning) = asked?;
            let Some(part) = meaning.fires(self.request)? else { continue };
            if best.as_ref().is_none_or(|(fit, _)| part.fit > *fit) {
                best = Some((part.fit, named(&rule, Some(part))?));
            }
            if part.fit == Fit::Surely {
                break;
            }
        }
        Ok(best.map(|(_, named)| named))
    }

    /// Returns the denials that would decide if they were not only observed.
    pub(super) fn observed(&self) -> Result<Vec<Named>, Corrupt> {
        let mut observed = Vec::new();
        for asked in self.of_kind(RuleKind::Deny, true) {
            let (rule, meaning) = asked?;
            if let Some(part) = meaning.fires(self.request)? {
                observed.push(named(&rule, Some(part))?);
            }
        }
        Ok(observed)
    }

    /// Returns the first part of the request that may change what agents may do.
    pub(super) fn agent_config(&self) -> Option<Span> {
        let effects = self.request.effects;
        effects
            .all()
            .iter()
            .find(|effect| changes_agents(effects, effect))
            .map(|effect| effect.span)
    }

    /// Returns whether rules allow every part of the request that the mode would refuse.
    pub(super) fn covered(&self, verdict: &Verdict, own_tier: Tier) -> Result<Covered, Corrupt> {
        let allows = self.of_kind(RuleKind::Allow, false).collect::<Result<Vec<_>, _>>()?;
        let mut worst: Option<(Tier, Named)> = None;
        if own_tier >= Tier::Stateful {
            let mut by = None;
            for (rule, meaning) in &allows {
                if meaning.permits_tool(self.request)? {
                    by = Some(named(rule, None)?);
                    break;
                }
            }
            let Some(by) = by else { return Ok(Covered::Not { span: None, missed: None }) };
            worst = Some((own_tier, by));
        }
        for (effect, tier) in verdict.effects.all().iter().zip(&verdict.tiers) {
            if *tier < Tier::Stateful {
                continue;
            }
            let mut by = None;
            for (rule, meaning) in &allows {
                if meaning.covers(self.request, effect)? {
                    by = Some(named(rule, None)?);
                    break;
                }
            }
            let Some(by) = by else {
                let missed = self.missed(effect)?;
                return Ok(Covered::Not { span: Some(effect.span), missed });
            };
            if worst.as_ref().is_none_or(|(most, _)| tier > most) {
                worst = Some((*tier, by));
            }
        }
        Ok(Covered::By(worst.map(|(_, by)| by)))
    }

    /// Returns the rule that came nearest to covering an effect: the one that fails on the fewest parts, the
    /// first of several.
    fn missed(&self, effect: &Effect) -> Result<Option<Missed>, Corrupt> {
        // A rule that names another operand, path or host was not asked, and is near.
        let numbers = Keyed { bundle: self.bundle, request: self.request }.near()?;
        let near = self.candidates(numbers)?;
        let is_allow = |candidate: &&Candidate<'_>| candidate.kind == RuleKind::Allow;
        let are_many = near.iter().filter(is_allow).count() > NEAR_RULES_MAX;
        // Of many, those that name its values come first.
        let first = if are_many { self.rules.as_slice() } else { &[] };
        let allows = first.iter().chain(&near).filter(is_allow).take(NEAR_RULES_MAX);
        let mut nearest: Option<(usize, Missed)> = None;
        for candidate in allows {
            let fails_on = candidate.meaning(self.bundle)?.fails_on(self.request, effect)?;
            if nearest.as_ref().is_none_or(|(count, _)| fails_on.len() < *count) {
                let (name, at) =
                    (candidate.rule.name()?.to_owned(), candidate.rule.at()?.into_owned());
                nearest = Some((fails_on.len(), Missed { name, at, fails_on }));
            }
            if nearest.as_ref().is_some_and(|(count, _)| *count <= 1) {
                break;
            }
        }
        Ok(nearest.map(|(_, missed)| missed))
    }
}

impl<'r> Candidate<'r> {
    /// Reads its conditions.
    fn meaning(&self, bundle: &'r Bundle) -> Result<Meaning<'r>, Corrupt> {
        match self.changed {
            None => Meaning::of(self.rule),
            Some(changed) => Meaning::of_changed(bundle, changed),
        }
    }
}

fn named(rule: &RuleView<'_>, part: Option<Part>) -> Result<Named, Corrupt> {
    Ok(Named {
        name: rule.name()?.to_owned(),
        because: rule.because()?.map(str::to_owned),
        origin: rule.origin()?.map(str::to_owned),
        ttl_s: rule.ttl_s(),
        at: rule.at()?.into_owned(),
        span: part.and_then(|part| part.span),
        is_doubtful: part.is_some_and(|part| part.fit != Fit::Surely),
    })
}
