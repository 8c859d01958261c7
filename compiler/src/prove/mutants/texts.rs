//! The texts and decisions of a project, each taken apart once, found by the rules that they may
//! concern.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use hashbrown::HashMap;
use relay_bundle::{Bundle, Corrupt, Rule};
use relay_engine::authority::Authority;
use relay_engine::decide::{self, Decision, Tried};
use relay_engine::place::Placement;
use relay_engine::rule_keys;
use relay_engine::view::View;
use relay_policy::facts::Facts;
use relay_policy::location::Location;
use serde_json::{Map, Value};

use crate::ast::{Claim, Expect};
use crate::prove::decision;
use crate::prove::declared::Declared;
use crate::source::Span;

/// A `match` or `no-match`.
pub(super) struct Asked {
    pub(super) rule: Arc<Rule>,
    pub(super) text: String,
    pub(super) matches: bool,
    pub(super) tried: Tried,
}

/// An `expect decision` with its caller and the arguments of its calls.
pub(super) struct Caller<'c> {
    expect: &'c Expect,
    view: View<'c>,
    calls: Vec<(Claim, Map<String, Value>)>,
    location: Location,
}

/// A decision that the project expects.
pub(super) struct Expected<'t> {
    caller: &'t Caller<'t>,
    claim: Claim,
    arguments: &'t Map<String, Value>,
    pub(super) trial: decide::Trial<'t>,
}

/// The texts and decisions of a project.
pub(super) struct Texts<'t> {
    bundle: &'t Bundle,
    authority: &'t Authority,
    facts: &'t Facts<'t>,
    asked: Vec<Asked>,
    /// The places of the texts of each rule, by its name.
    of_rules: HashMap<String, (usize, usize)>,
    decisions: Vec<Expected<'t>>,
    decision_index: Index,
    /// Only rules that raise or lower need it.
    asked_index: OnceCell<Index>,
}

/// The numbers of requests, by the keys of the rules that they may concern.
#[derive(Default)]
struct Index {
    by_key: HashMap<String, Vec<usize>>,
    /// Those that may concern any rule.
    always: Vec<usize>,
}

/// Returns the callers of the decisions that the project expects.
pub(super) fn callers<'c>(
    bundle: &'c Bundle,
    declared: &'c Declared,
    decided: &[(Span, Placement)],
) -> Result<Vec<Caller<'c>>, Corrupt> {
    let mut callers = Vec::new();
    let placements: HashMap<Span, &Placement> = decided.iter().map(|(at, it)| (*at, it)).collect();
    for expect in &declared.expects {
        let Some(placement) = placements.get(&expect.at) else { continue };
        let view = View::of(bundle, placement)?;
        let call = |(claim, about): &(Claim, crate::source::Spanned<String>)| {
            Some((*claim, decision::arguments(expect, &about.value).ok()?))
        };
        let calls = expect.claims.iter().filter_map(call).collect();
        callers.push(Caller { expect, view, calls, location: Location::default() });
    }
    Ok(callers)
}

impl<'t> Texts<'t> {
    pub(super) fn of(
        bundle: &'t Bundle,
        (authority, facts): (&'t Authority, &'t Facts<'t>),
        declared: &Declared,
        callers: &'t [Caller<'t>],
    ) -> Result<Self, Corrupt> {
        let mut asked: Vec<Asked> = Vec::new();
        let mut of_rules = HashMap::new();
        let mut rules: HashMap<String, Arc<Rule>> = HashMap::new();
        for rule in bundle.rules() {
            let rule = rule?.to_owned()?;
            rules.insert(rule.name.clone(), Arc::new(rule));
        }
        for example in &declared.examples {
            let Some(rule) = rules.get(&example.rule) else { continue };
            let Some(tried) = Tried::of(bundle, (authority, facts), rule, &example.text)? else {
                continue;
            };
            // INVARIANT: the texts of a rule follow each other.
            let here = asked.len();
            of_rules.entry(example.rule.clone()).or_insert((here, here)).1 = here + 1;
            let (rule, text, matches) = (Arc::clone(rule), example.text.clone(), example.matches);
            asked.push(Asked { rule, text, matches, tried });
        }
        let mut decisions = Vec::new();
        for caller in callers {
            for (claim, arguments) in &caller.calls {
                let call = decision::call(caller.expect, arguments, &caller.location);
                let trial = decide::Trial::of(&caller.view, authority, call)?;
                decisions.push(Expected { caller, claim: *claim, arguments, trial });
            }
        }
        let mut decision_index = Index::default();
        for (number, decision) in decisions.iter().enumerate() {
            decision_index.add(number, decision.trial.keys((authority, facts))?);
        }
        let asked_index = OnceCell::new();
        Ok(Self {
            bundle,
            authority,
            facts,
            asked,
            of_rules,
            decisions,
            decision_index,
            asked_index,
        })
    }

    /// Returns the texts of a rule.
    pub(super) fn of_rule(&self, name: &str) -> &[Asked] {
        let place = self.of_rules.get(name);
        place.and_then(|(start, end)| self.asked.get(*start..*end)).unwrap_or_default()
    }

    /// Returns the texts that one of these rules may concern, also texts of others.
    pub(super) fn tried_about(&self, rules: &[&Rule]) -> Result<Vec<&Asked>, Corrupt> {
        let index = match self.asked_index.get() {
            Some(index) => index,
            None => {
                let mut index = Index::default();
                for (number, asked) in self.asked.iter().enumerate() {
                    index.add(number, asked.tried.keys(self.bundle, (self.authority, self.facts))?);
                }
                self.asked_index.get_or_init(|| index)
            }
        };
        let mut numbers = index.about(&self.keys(rules));
        // A rule is asked about all of its own texts.
        for rule in rules {
            let (start, end) = self.of_rules.get(&rule.name).copied().unwrap_or_default();
            numbers.extend(start..end);
        }
        Ok(numbers.into_iter().filter_map(|number| self.asked.get(number)).collect())
    }

    /// Returns the decisions that one of these rules may concern.
    pub(super) fn decisions_about(&self, rules: &[&Rule]) -> Vec<&Expected<'t>> {
        if self.decisions.is_empty() {
            return Vec::new();
        }
        let numbers = self.decision_index.about(&self.keys(rules));
        numbers.into_iter().filter_map(|number| self.decisions.get(number)).collect()
    }

    fn keys(&self, rules: &[&Rule]) -> BTreeSet<String> {
        rules.iter().flat_map(|rule| rule_keys::meant_keys(rule, self.facts)).collect()
    }
}

impl Expected<'_> {
    /// Returns whether a decision is the expected one.
    pub(super) fn holds(&self, decision: &Decision) -> bool {
        decision::holds(self.caller.expect, self.claim, decision)
    }

    /// Decides the call again, with other rules that raise or lower.
    pub(super) fn again(&self, authority: &Authority) -> Result<Decision, Corrupt> {
        let Self { caller, claim: _, arguments, trial: _ } = self;
        let call = decision::call(caller.expect, arguments, &caller.location);
        decide::decide(&caller.view, authority, &call)
    }
}

impl Index {
    fn add(&mut self, number: usize, keys: Option<BTreeSet<String>>) {
        match keys {
            None => self.always.push(number),
            Some(keys) => {
                for key in keys {
                    self.by_key.entry(key).or_default().push(number);
                }
            }
        }
    }

    fn about(&self, keys: &BTreeSet<String>) -> BTreeSet<usize> {
        let of_keys = keys.iter().filter_map(|key| self.by_key.get(key)).flatten();
        of_keys.chain(&self.always).copied().collect()
    }
}
