//! Whether one rule means a text, for itself.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use relay_bundle::{Bundle, Corrupt, Rule, RuleKind, RuleView, Selector, Tier};
use relay_policy::facts::Facts;
use relay_policy::location::Location;
use relay_policy::rule::Meaning;
use serde_json::{Map, Value};

use super::answer::Answer;
use super::asked::Asked;
use super::call::{Call, Door};
use crate::authority::Authority;
use crate::tool;

/// Returns the rule with a name; `None` without one.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn rule_named(bundle: &Bundle, name: &str) -> Result<Option<Rule>, Corrupt> {
    find(bundle, name)?.map(|rule| rule.to_owned()).transpose()
}

/// A text with its effects, on which a rule is tried.
pub struct Tried {
    tool: String,
    asked: Asked,
}

impl Tried {
    /// Takes a text apart, as one of the tool that the rule names; `None` without a policy.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn of(
        bundle: &Bundle,
        (authority, facts): (&Authority, &Facts<'_>),
        rule: &Rule,
        text: &str,
    ) -> Result<Option<Self>, Corrupt> {
        let Some(judging) = authority.rules() else { return Ok(None) };
        let tool = tool_of(rule);
        let argument = tool::reach(tool).and_then(|reach| reach.text).unwrap_or("command");
        let arguments = Map::from_iter([(argument.to_owned(), Value::from(text))]);
        let location = Location::default();
        let call = Call {
            tool,
            arguments: &arguments,
            client: None,
            location: &location,
            door: Door::Elsewhere,
        };
        let asked = Asked::of(bundle, &call, None, facts, judging)?;
        Ok(Some(Self { tool: tool.to_owned(), asked }))
    }

    /// Returns whether the text is one of the tool that this rule names.
    #[must_use]
    pub fn is_of(&self, rule: &Rule) -> bool {
        tool_of(rule) == self.tool
    }

    /// Returns whether a rule means it: a rule that restricts fires, `allow` covers every part of tier 2
    /// and 3, `lower` covers a part. `Err` says why not.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn means(
        &self,
        bundle: &Bundle,
        (authority, facts): (&Authority, &Facts<'_>),
        rule: &Rule,
    ) -> Result<Result<(), String>, Corrupt> {
        let Self { tool, asked } = self;
        let Some(judging) = authority.rules() else { return Ok(Ok(())) };
        let given = asked.given();
        let request = asked.request((tool, None), (facts, judging), &given);
        let meaning = Meaning::of_changed(bundle, rule)?;
        let effects = || asked.verdict.effects.all().iter().zip(&asked.verdict.tiers);
        Ok(match rule.kind {
            RuleKind::Deny | RuleKind::Approve | RuleKind::Tier => match meaning.fires(&request)? {
                Some(_) => Ok(()),
                None => Err("no part of it is meant".to_owned()),
            },
            RuleKind::Lower => {
                let mut is_covered = false;
                for (effect, _) in effects() {
                    is_covered |= meaning.covers(&request, effect)?;
                }
                if is_covered { Ok(()) } else { Err("no part of it is surely meant".to_owned()) }
            }
            RuleKind::Allow => {
                let mut missed = None;
                let mut count = 0;
                for (effect, tier) in effects() {
                    if *tier < Tier::Stateful {
                        continue;
                    }
                    count += 1;
                    if missed.is_none() && !meaning.covers(&request, effect)? {
                        missed = Some(meaning.fails_on(&request, effect)?);
                    }
                }
                match missed {
                    Some(fails) => {
                        Err(format!("a part of it is not covered: {}", fails.join(", ")))
                    }
                    None if count == 0 => {
                        Err(format!("it is tier {}, which needs no rule", asked.tier.number()))
                    }
                    None => Ok(()),
                }
            }
        })
    }

    /// Returns the answer of a rule to it.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn answer(
        &self,
        bundle: &Bundle,
        judging: (&Authority, &Facts<'_>),
        rule: &Rule,
    ) -> Result<Option<Answer>, Corrupt> {
        Answer::of(bundle, judging, rule, (&self.tool, None), &self.asked)
    }

    /// Returns the keys of the rules that it may concern; `None` if it may concern any rule.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn keys(
        &self,
        bundle: &Bundle,
        (authority, facts): (&Authority, &Facts<'_>),
    ) -> Result<Option<BTreeSet<String>>, Corrupt> {
        let Some(judging) = authority.rules() else { return Ok(Some(BTreeSet::new())) };
        self.asked.keys(bundle, &self.tool, (facts, judging))
    }
}

fn find<'b>(bundle: &'b Bundle, name: &str) -> Result<Option<RuleView<'b>>, Corrupt> {
    // The rules are sorted by name.
    let (mut low, mut high) = (0, bundle.rule_count());
    while low < high {
        let middle = low + (high - low) / 2;
        let rule = bundle.rule(middle)?;
        match rule.name()?.cmp(name) {
            Ordering::Equal => return Ok(Some(rule)),
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
        }
    }
    Ok(None)
}

/// Returns the first tool with a text for a shell that the rule names.
fn tool_of(rule: &Rule) -> &str {
    let own = rule.conditions.iter().filter(|condition| condition.group == 0);
    let tools = own.filter(|condition| condition.selector == Selector::Tool);
    let mut values = tools.flat_map(|condition| &condition.values).map(|value| &value.value);
    let runs = |name: &&String| tool::reach(name).is_some_and(|reach| reach.text.is_some());
    values.find(runs).map_or(tool::SHELL, String::as_str)
}
