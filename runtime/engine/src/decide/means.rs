//! Whether one rule means a text, for itself.

use std::cmp::Ordering;

use relay_bundle::{Bundle, Corrupt, RuleKind, RuleView, Selector, Tier};
use relay_policy::location::Location;
use relay_policy::rule::{Argument, Meaning, Request};
use serde_json::{Map, Value};

use super::asked::Asked;
use super::call::{Call, Door};
use crate::authority::Authority;
use crate::tool;

/// The tool of a text, unless the rule names another one.
const TOOL: &str = "shell_exec";

/// Returns whether a rule means a text: a rule that restricts fires, `allow` covers every part of
/// tier 2 and 3, `lower` covers a part. `Err` says why not; `None` without such a rule.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn means(
    bundle: &Bundle,
    authority: &Authority,
    rule: &str,
    text: &str,
) -> Result<Option<Result<(), String>>, Corrupt> {
    let Some(judging) = authority.rules() else { return Ok(None) };
    let Some(rule) = find(bundle, rule)? else { return Ok(None) };
    let facts = authority.facts(bundle)?;
    let name = tool_of(&rule)?;
    let argument = tool::reach(name).and_then(|reach| reach.text).unwrap_or("command");
    let arguments = Map::from_iter([(argument.to_owned(), Value::from(text))]);
    let location = Location::default();
    let call = Call {
        tool: name,
        arguments: &arguments,
        client: None,
        location: &location,
        door: Door::Elsewhere,
    };
    let asked = Asked::of(bundle, &call, None, &facts, judging)?;
    let given: Vec<Argument<'_>> =
        asked.arguments.iter().map(|(name, value)| Argument { name, value }).collect();
    let request = Request {
        effects: &asked.verdict.effects,
        facts: &facts,
        paths: &judging.paths,
        classes: &judging.classes,
        location: &location,
        tool: name,
        arguments: &given,
        hosts: &[],
        client: None,
        tier: asked.tier,
        text: &asked.text,
    };
    let meaning = Meaning::of(rule)?;
    let effects = || asked.verdict.effects.all().iter().zip(&asked.verdict.tiers);
    Ok(Some(match rule.kind()? {
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
                Some(fails) => Err(format!("a part of it is not covered: {}", fails.join(", "))),
                None if count == 0 => {
                    Err(format!("it is tier {}, which needs no rule", asked.tier.number()))
                }
                None => Ok(()),
            }
        }
    }))
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
fn tool_of<'b>(rule: &RuleView<'b>) -> Result<&'b str, Corrupt> {
    for condition in rule.conditions()? {
        let condition = condition?;
        if condition.group() != 0 || condition.selector()? != Selector::Tool {
            continue;
        }
        for value in condition.values()? {
            let value = value?;
            if tool::reach(value).is_some_and(|reach| reach.text.is_some()) {
                return Ok(value);
            }
        }
    }
    Ok(TOOL)
}
