//! `expect decision`: the decisions of the policy for a caller.

mod no_call;
mod no_policy;

use miette::{Diagnostic, LabeledSpan};
use relay_bundle::Corrupt;
use relay_engine::decide::{Call, Decision, Door, Outcome, decide};
use relay_engine::place::Placement;
use relay_engine::tool::{self, NoCommand};
use relay_engine::view::View;
use relay_policy::location::Location;
use serde_json::{Map, Value};
use thiserror::Error;

use self::no_call::NoCall;
use super::case::Case;
use super::coverage::Touched;
use crate::ast::{Claim, Expect};
use crate::source::Span;

/// The most bytes of deciding words that a report quotes.
const QUOTED_MAX: usize = 80;

/// The policy decides otherwise than the project promises
///
/// A call that the project rules out would run, or one that agents need would not. The decision is
/// that of the bundle itself, as a server or a hook makes it.
#[derive(Debug, Error, Diagnostic)]
#[error("{claim}")]
#[diagnostic(code(expect::decision))]
struct OtherDecision {
    claim: String,
    #[help]
    help: String,
    reason: String,
    #[label(primary, "{reason}")]
    at: Span,
    #[label(collection, "this rule decides")]
    rule: Vec<LabeledSpan>,
}

pub(super) fn prove(
    case: &mut Case<'_, '_>,
    placement: &Placement,
    touched: &mut Touched,
) -> Result<(), Corrupt> {
    if case.bundle.policy().is_none() {
        no_policy::report(case);
        return Ok(());
    }
    let expect = case.expect;
    touched.decided.push((expect.at, *placement));
    let view = View::of(case.bundle, placement)?;
    let location = Location::default();
    for (claim, about) in &expect.claims {
        let Some(wanted) = wanted(*claim) else { continue };
        let arguments = match arguments(expect, &about.value) {
            Ok(arguments) => arguments,
            Err(fault) => {
                no_call::report(case, about.at, fault);
                continue;
            }
        };
        let decision = decide(&view, case.authority, &call(expect, &arguments, &location))?;
        if let Some(claim) = unmet(expect, wanted, &decision) {
            let failed = OtherDecision {
                claim,
                help: help(case, placement, &about.value, &decision)?,
                reason: format!("tier {}: {}", decision.tier.number(), decision.reason()),
                at: about.at,
                rule: label(case, &decision),
            };
            case.fail(about.at, failed);
        }
    }
    Ok(())
}

/// Returns the call of a claim.
pub(super) fn call<'c>(
    expect: &'c Expect,
    arguments: &'c Map<String, Value>,
    location: &'c Location,
) -> Call<'c> {
    let client = expect.client.as_ref().map(|client| client.value.as_str());
    Call { tool: tool_of(expect), arguments, client, location, door: Door::Elsewhere }
}

/// Returns whether a decision is the one that a claim of an `expect` is about.
pub(super) fn holds(expect: &Expect, claim: Claim, decision: &Decision) -> bool {
    wanted(claim).is_none_or(|wanted| unmet(expect, wanted, decision).is_none())
}

fn tool_of(expect: &Expect) -> &str {
    expect.tool.as_ref().map_or(tool::SHELL, |tool| &tool.value)
}

/// Returns the outcome of a claim; `None` for claims about other questions.
fn wanted(claim: Claim) -> Option<Outcome> {
    match claim {
        Claim::Allow => Some(Outcome::Allow),
        Claim::Approve => Some(Outcome::Approve),
        Claim::Deny => Some(Outcome::Deny),
        _ => None,
    }
}

/// Returns the arguments of a tool for a command, or those that a claim gives as JSON.
pub(super) fn arguments(expect: &Expect, about: &str) -> Result<Map<String, Value>, NoCall> {
    let name = tool_of(expect);
    let host = expect.host.as_ref().map(|host| host.value.as_str());
    match tool::command_arguments(name, about, host) {
        Ok(arguments) => Ok(arguments),
        Err(NoCommand::NoHost) => Err(NoCall::NoHost(name.to_owned())),
        Err(NoCommand::NoText) if host.is_none() => {
            serde_json::from_str(about).map_err(|_| NoCall::NoArguments(name.to_owned()))
        }
        Err(NoCommand::NoText | NoCommand::OwnHost) => Err(NoCall::Host(name.to_owned())),
    }
}

/// Returns the claim that does not hold, if one does not.
fn unmet(expect: &Expect, wanted: Outcome, decision: &Decision) -> Option<String> {
    if decision.outcome != wanted {
        let (got, wanted) = (decision.outcome.word(), wanted.word());
        return Some(format!("the decision is `{got}`, not `{wanted}`"));
    }
    if let Some(rule) = &expect.rule {
        let named = decision.named.as_ref().map(|named| named.name.as_str());
        if named != Some(rule.value.as_str()) {
            let by = match named {
                Some(named) => format!("by the rule `{named}`"),
                None => format!("by no rule (`{}`)", decision.rule.name()),
            };
            let (outcome, wanted) = (decision.outcome.word(), &rule.value);
            return Some(format!("the decision `{outcome}` is made {by}, not by `{wanted}`"));
        }
    }
    let tier = expect.tier.as_ref().filter(|tier| tier.value != decision.tier)?;
    Some(format!("the tier is {}, not {}", decision.tier.number(), tier.value.number()))
}

/// Explains a decision: who asks, the place and the words that decide, and the whole answer.
fn help(
    case: &Case<'_, '_>,
    placement: &Placement,
    about: &str,
    decision: &Decision,
) -> Result<String, Corrupt> {
    let mut help = case.caller(placement);
    let by = decision.rule_name();
    match &decision.at {
        Some(at) => help.push_str(&format!("; `{by}` at {at} decides")),
        None => help.push_str(&format!("; `{by}` decides")),
    }
    let worst = decision.verdict.as_ref().and_then(|verdict| verdict.hits.first());
    let span = decision.span.or(worst.map(|hit| hit.span));
    let words = span.and_then(|span| decision.text.get(span.start as usize..span.end as usize));
    if let Some(words) = words.filter(|words| !words.is_empty()) {
        let (start, _) = words.split_at(words.floor_char_boundary(QUOTED_MAX));
        let cut = if start.len() < words.len() { "…" } else { "" };
        help.push_str(&format!(", by the words `{start}{cut}`"));
    }
    let Expect { tenant, role, user, groups, tool, host, client, .. } = case.expect;
    let named = [
        ("tenant", tenant),
        ("role", role),
        ("user", user),
        ("tool", tool),
        ("host", host),
        ("client", client),
    ];
    if tool::reach(tool_of(case.expect)).is_some_and(|reach| reach.text.is_some()) {
        let mut asked: Vec<(&str, &str)> = vec![("command", about)];
        let named = named.iter();
        asked.extend(named.filter_map(|(flag, name)| Some((*flag, name.as_ref()?.value.as_str()))));
        asked.extend(groups.iter().map(|group| ("group", group.value.as_str())));
        let command = case.explain(&asked);
        help.push_str(&format!("; `{command}` prints the whole answer"));
    }
    Ok(help)
}

/// Labels the declaration of the rule that decides, if it is the project's own.
fn label(case: &Case<'_, '_>, decision: &Decision) -> Vec<LabeledSpan> {
    let Some(named) = &decision.named else { return Vec::new() };
    let rules = &case.declared.rules;
    let own = rules.iter().find(|rule| rule.name.value == named.name);
    let label = |at| LabeledSpan::new_with_span(Some("this rule decides".to_owned()), at);
    own.map(|rule| label(rule.name.at)).into_iter().collect()
}
