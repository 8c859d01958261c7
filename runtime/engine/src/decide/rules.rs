//! The rules of a policy that a request may concern, asked about it.

use relay_bundle::{Bundle, Corrupt, Numbers, Rule, RuleKind, RuleView, Selector, Tier};
use relay_policy::classify::{Verdict, changes_agents};
use relay_policy::effect::Effect;
use relay_policy::rule::{Fit, Meaning, Part, Request};
use relay_policy::span::Span;

use super::answer::Change;
use super::decision::{Missed, Named};
use super::scope::InForce;
use crate::rule_keys::{Concerned, Keyed};

/// The most rules that are compared to find the one that came nearest to covering an effect.
const NEAR_RULES_MAX: usize = 64;

/// The rules that a request may concern and whose scope is in force.
pub(super) struct Rules<'r> {
    bundle: &'r Bundle,
    request: &'r Request<'r>,
    in_force: &'r InForce,
    change: Option<Change<'r>>,
    /// Those with a literal of the request.
    keyed: Vec<Candidate<'r>>,
    /// The numbers of others that may mean it.
    open: Vec<u32>,
    /// Whether any other may too.
    may_be_any: bool,
}

/// A rule that a request may concern.
#[derive(Clone, Copy)]
struct Candidate<'r> {
    number: u32,
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
        let Concerned { mut keyed, mut open, may_be_any } =
            Keyed { bundle, request }.concerned()?;
        // Without some of its conditions it may mean the request for sure.
        if let Some(change) = change
            && let Err(place) = keyed.binary_search(&change.number)
        {
            keyed.insert(place, change.number);
            open.retain(|number| *number != change.number);
        }
        let mut rules =
            Self { bundle, request, in_force, change, keyed: Vec::new(), open, may_be_any };
        for number in keyed {
            rules.keyed.extend(rules.candidate(number)?);
        }
        Ok(rules)
    }

    /// Returns the rule of a number, if it is in force.
    fn candidate(&self, number: u32) -> Result<Option<Candidate<'r>>, Corrupt> {
        let rule = self.bundle.rule(number as usize)?;
        let kind = rule.kind()?;
        if !self.in_force.holds(rule.scope(), kind == RuleKind::Allow) {
            return Ok(None);
        }
        let changed = match self.change.filter(|change| change.number == number) {
            Some(Change { rule: None, .. }) => return Ok(None),
            Some(Change { rule: changed, .. }) => changed,
            None => None,
        };
        Ok(Some(Candidate { number, kind, rule, changed }))
    }

    /// Returns the rules of a kind without a literal of the request, which may mean it if a part of it is open;
    /// those that are only observed, or the others.
    fn others(
        &self,
        kind: RuleKind,
        observed: bool,
    ) -> Result<impl Iterator<Item = Result<Candidate<'r>, Corrupt>>, Corrupt> {
        // Each rule that may be open is one of these.
        let of_kind = self.asked().of_anything(kind, observed)?;
        let (open, any) = match self.may_be_any {
            true => (&[][..], of_kind),
            false if of_kind.is_empty() => (&[][..], Numbers::default()),
            false => (self.open.as_slice(), Numbers::default()),
        };
        let open = open.iter().copied().filter(move |number| of_kind.contains(*number));
        let numbers = open.chain(any.iter());
        let others = numbers.filter(|number| !self.is_keyed(*number));
        let others = others.filter_map(|number| self.candidate(number).transpose());
        Ok(others.filter(move |other| other.as_ref().map_or(true, |it| it.is_of(kind, observed))))
    }

    fn asked(&self) -> Keyed<'r> {
        Keyed { bundle: self.bundle, request: self.request }
    }

    /// Returns the rule of a kind that means the request, the surest first; rules that are only
    /// observed do not count.
    pub(super) fn first(&self, kind: RuleKind) -> Result<Option<Named>, Corrupt> {
        let mut best: Option<(Candidate<'r>, Part)> = None;
        for candidate in self.keyed.iter().filter(|candidate| candidate.is_of(kind, false)) {
            let Some(part) = self.fires(candidate)? else { continue };
            if best.is_none_or(|(_, best)| part.fit > best.fit) {
                best = Some((*candidate, part));
            }
            if part.fit == Fit::Surely {
                return Ok(Some(named(&candidate.rule, Some(part))?));
            }
        }
        for candidate in self.others(kind, false)? {
            let candidate = candidate?;
            if best.is_some_and(|(best, _)| best.number < candidate.number) {
                break;
            }
            if let Some(part) = self.fires(&candidate)? {
                best = Some((candidate, part));
                break;
            }
        }
        best.map(|(candidate, part)| named(&candidate.rule, Some(part))).transpose()
    }

    /// Returns the denials that would decide if they were not only observed.
    pub(super) fn observed(&self) -> Result<Vec<Named>, Corrupt> {
        let kind = RuleKind::Deny;
        let mut fired = Vec::new();
        for candidate in self.keyed.iter().filter(|candidate| candidate.is_of(kind, true)) {
            fired.extend(self.fires(candidate)?.map(|part| (*candidate, part)));
        }
        for candidate in self.others(kind, true)? {
            let candidate = candidate?;
            fired.extend(self.fires(&candidate)?.map(|part| (candidate, part)));
        }
        fired.sort_by_key(|(candidate, _)| candidate.number);
        fired.into_iter().map(|(candidate, part)| named(&candidate.rule, Some(part))).collect()
    }

    fn fires(&self, candidate: &Candidate<'r>) -> Result<Option<Part>, Corrupt> {
        candidate.meaning(self.bundle)?.fires(self.request)
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
        // A rule that allows has to mean its part for sure.
        let allows = self.keyed.iter().filter(|candidate| candidate.is_of(RuleKind::Allow, false));
        let allows = allows
            .map(|candidate| Ok((candidate.rule, candidate.meaning(self.bundle)?)))
            .collect::<Result<Vec<_>, Corrupt>>()?;
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

    /// Returns the rule that came nearest to covering an effect: the one that fails on the fewest parts. Of
    /// several, one with a literal of the request comes first, then the first one.
    fn missed(&self, effect: &Effect) -> Result<Option<Missed>, Corrupt> {
        let keyed = self.keyed.iter().filter(|candidate| candidate.is_of(RuleKind::Allow, false));
        // A rule that names another operand, path or host was not asked, and is near.
        let near = self.asked().near(effect)?;
        let others = near.iter().filter(|number| !self.is_keyed(**number));
        let others = others.filter_map(|number| self.candidate(*number).transpose());
        let allows = keyed.map(|candidate| Ok(*candidate)).chain(others).take(NEAR_RULES_MAX);
        let mut nearest: Option<(Candidate<'_>, Vec<String>)> = None;
        for candidate in allows {
            let candidate = candidate?;
            let fails_on = candidate.meaning(self.bundle)?.fails_on(self.request, effect)?;
            // The literal may be one of another program.
            if fails_on.iter().any(|part| part == Selector::Program.word())
                && near.binary_search(&candidate.number).is_err()
            {
                continue;
            }
            let is_nearest = fails_on.len() <= 1;
            if nearest.as_ref().is_none_or(|(_, least)| fails_on.len() < least.len()) {
                nearest = Some((candidate, fails_on));
            }
            if is_nearest {
                break;
            }
        }
        let missed = |(Candidate { rule, .. }, fails_on)| {
            Ok(Missed { name: rule.name()?.to_owned(), at: rule.at()?.into_owned(), fails_on })
        };
        nearest.map(missed).transpose()
    }

    fn is_keyed(&self, number: u32) -> bool {
        self.keyed.binary_search_by_key(&number, |candidate| candidate.number).is_ok()
    }
}

impl<'r> Candidate<'r> {
    fn is_of(&self, kind: RuleKind, observed: bool) -> bool {
        self.kind == kind && self.rule.observe() == observed
    }

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
