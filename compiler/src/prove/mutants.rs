//! Mutants of the policy: each rule, selector, value and exception of the project's own rules is
//! left out in turn, and the texts and decisions that the project expects are asked again.
//!
//! The bundle stays as it is. A rule is changed in memory, and only those texts are asked that it may
//! concern, before or after: `rule_keys` says which, as it does for decisions. Most answers of the
//! changed rule are the same as before, so most decisions are not made again.

mod cut;
mod texts;

use std::collections::BTreeMap;

use hashbrown::HashMap;
use relay_bundle::{Bundle, Corrupt, Rule, RuleKind};
use relay_engine::authority::Authority;
use relay_engine::decide::{Change, Tried};
use relay_engine::place::Placement;
use relay_policy::facts::Facts;

use self::texts::{Asked, Texts};
use super::coverage::{Coverage, Kind};
use super::declared::Declared;
use crate::ast::PolicyRule;
use crate::source::Span;

pub use cut::Cut;

/// A rule without one of its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    /// The name of the rule.
    pub rule: String,
    /// The kind of the part.
    pub cut: Cut,
    /// The part as written: `flags "--force"`; empty for the whole rule.
    pub removed: String,
    /// The place of the part.
    pub at: Span,
    /// Whether a text or a decision is no longer as expected.
    pub killed: bool,
}

/// The coverage of rules and their parts, by kind and name.
type OfRules = BTreeMap<(Kind, String), Coverage>;

/// Tries every mutant, and finds the rules and parts that no text or decision touches. All texts and
/// `expect`s hold.
pub(super) fn try_all(
    bundle: &Bundle,
    authority: &Authority,
    declared: &Declared,
    decided: &[(Span, Placement)],
) -> Result<(Vec<Mutant>, OfRules), Corrupt> {
    let facts = authority.facts(bundle)?;
    let callers = texts::callers(bundle, declared, decided)?;
    let texts = Texts::of(bundle, (authority, &facts), declared, &callers)?;
    let mut mutants = Vec::new();
    let mut coverage = BTreeMap::new();
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    for (number, rule) in (0..).zip(bundle.rules()) {
        numbers.insert(rule?.name()?, number);
    }
    for written in &declared.rules {
        let Some(number) = numbers.get(written.name.value.as_str()).copied() else { continue };
        let rule = bundle.rule(number as usize)?.to_owned()?;
        let trial = Trial { bundle, authority, facts: &facts, texts: &texts, number, rule: &rule };
        trial.cover(written, &mut coverage)?;
        for part in cut::parts(written) {
            let changed = part.apply(&rule);
            let killed = trial.kills(changed.as_ref())?;
            let rule = rule.name.clone();
            mutants.push(Mutant {
                rule,
                cut: part.cut,
                removed: part.removed,
                at: part.at,
                killed,
            });
        }
    }
    Ok((mutants, coverage))
}

/// A rule whose mutants are tried.
struct Trial<'t> {
    bundle: &'t Bundle,
    authority: &'t Authority,
    facts: &'t Facts<'t>,
    texts: &'t Texts<'t>,
    number: u32,
    rule: &'t Rule,
}

impl Trial<'_> {
    /// Notes whether the rule and its parts are touched. The parts of a rule that nothing touches are
    /// left out.
    fn cover(&self, written: &PolicyRule, coverage: &mut OfRules) -> Result<(), Corrupt> {
        let Self { texts, rule, .. } = self;
        let mut note = |kind, name: String, at, touched| {
            coverage.insert((kind, name), Coverage { at, touched });
        };
        let is_tried = !texts.of_rule(&rule.name).is_empty();
        let touched = is_tried || self.is_meant(rule)?;
        note(Kind::Rule, rule.name.clone(), written.name.at, touched);
        if !touched {
            return Ok(());
        }
        for part in cut::parts(written) {
            let Some(kind) = part.covered() else { continue };
            let name = format!("{} of {}", part.removed, rule.name);
            let touched = self.is_meant(&part.alone(rule))?;
            note(kind, name, part.at, touched);
        }
        Ok(())
    }

    /// Returns whether a rule means a part of a text of this rule, or of a decision.
    fn is_meant(&self, rule: &Rule) -> Result<bool, Corrupt> {
        let Self { bundle, authority, facts, texts, .. } = *self;
        for own in texts.of_rule(&self.rule.name) {
            let answer = own.tried.answer(bundle, (authority, facts), rule)?;
            if answer.is_some_and(|answer| answer.means_any()) {
                return Ok(true);
            }
        }
        for decision in texts.decisions_about(&[rule]) {
            let answer = decision.trial.answer((authority, facts), rule)?;
            if answer.is_some_and(|answer| answer.means_any()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether a text or a decision is no longer as expected with a changed rule; `None`
    /// without the rule.
    fn kills(&self, changed: Option<&Rule>) -> Result<bool, Corrupt> {
        let Self { texts, rule, .. } = self;
        let own = texts.of_rule(&rule.name);
        // A rule that is gone means no text.
        if changed.is_none() && own.iter().any(|own| own.matches) {
            return Ok(true);
        }
        match rule.kind {
            RuleKind::Tier | RuleKind::Lower => self.kills_adjusting(changed),
            RuleKind::Deny | RuleKind::Approve | RuleKind::Allow => self.kills_deciding(changed),
        }
    }

    fn kills_deciding(&self, changed: Option<&Rule>) -> Result<bool, Corrupt> {
        let Self { bundle, authority, facts, texts, number, rule } = *self;
        if let Some(changed) = changed {
            for own in texts.of_rule(&rule.name) {
                let holds = match own.tried.is_of(changed) {
                    true => {
                        own.tried.means(bundle, (authority, facts), changed)?.is_ok() == own.matches
                    }
                    false => holds(bundle, (authority, facts), changed, own)?,
                };
                if !holds {
                    return Ok(true);
                }
            }
        }
        let rules: Vec<&Rule> = [Some(rule), changed].into_iter().flatten().collect();
        for decision in texts.decisions_about(&rules) {
            let before = decision.trial.answer((authority, facts), rule)?;
            let after = match changed {
                Some(changed) => decision.trial.answer((authority, facts), changed)?,
                None => None,
            };
            let is_same = match changed {
                Some(_) => before == after,
                None => !before.is_some_and(|before| before.means_any()),
            };
            if is_same {
                continue;
            }
            let change = Change { number, rule: changed };
            if !decision.holds(&decision.trial.decide(authority, Some(change))?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The same for a rule that raises or lowers: a text that it may concern has another tier, so it
    /// is judged again.
    fn kills_adjusting(&self, changed: Option<&Rule>) -> Result<bool, Corrupt> {
        let Self { bundle, authority, facts, texts, rule, .. } = *self;
        let adjusted = authority.adjusted(&rule.name, changed);
        let rules: Vec<&Rule> = [Some(rule), changed].into_iter().flatten().collect();
        for tried in texts.tried_about(&rules)? {
            let is_own = tried.rule.name == rule.name;
            let asked = match (is_own, changed) {
                (false, _) => &tried.rule,
                (true, Some(changed)) => changed,
                (true, None) => continue,
            };
            let mut may_differ = is_own;
            for rule in &rules {
                let answer = tried.tried.answer(bundle, (authority, facts), rule)?;
                may_differ |= answer.is_some_and(|answer| answer.means_any());
            }
            if may_differ && !holds(bundle, (&adjusted, facts), asked, tried)? {
                return Ok(true);
            }
        }
        for decision in texts.decisions_about(&rules) {
            let mut may_differ = false;
            for rule in &rules {
                let answer = decision.trial.answer((authority, facts), rule)?;
                may_differ |= answer.is_some_and(|answer| answer.means_any());
            }
            if may_differ && !decision.holds(&decision.again(&adjusted)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Judges a text again, and returns whether the rule does what its line says.
fn holds(
    bundle: &Bundle,
    (authority, facts): (&Authority, &Facts<'_>),
    rule: &Rule,
    asked: &Asked,
) -> Result<bool, Corrupt> {
    let tried = Tried::of(bundle, (authority, facts), rule, &asked.text)?;
    let meant = tried.map(|tried| tried.means(bundle, (authority, facts), rule)).transpose()?;
    Ok(meant.is_none_or(|meant| meant.is_ok() == asked.matches))
}
