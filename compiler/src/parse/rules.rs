//! `deny|approve|allow|tier|lower NAME { … }`: the rules of a policy.

use miette::Diagnostic;
use relay_bundle::Selector;
use relay_policy::tier::Tier;
use thiserror::Error;

use super::node::{Node, Reader};
use crate::ast::{PolicyCondition, PolicyRule};
use crate::diagnostic::Diagnostics;
use crate::grammar::{Kind, Rule};
use crate::language::rules::{
    ARG, EXCEPTION, LISTS, MATCH, MAX, MIN, NO_MATCH, OBSERVE, ROLE, TENANT, TEXT, TIERS, TO, TTL,
};
use crate::language::shared::{BECAUSE, EXCEPT};
use crate::source::{Span, Spanned};

/// The most exceptions of a rule.
const EXCEPTIONS_MAX: usize = 32;

/// Reads a rule in a scope; `None` without a name.
pub(super) fn rule(
    node: &Node,
    rule: &'static Rule,
    scope: Option<usize>,
    out: &mut Diagnostics,
) -> Option<PolicyRule> {
    let mut reader = Reader::new(node, rule, out);
    let name = reader.name(out);
    let mut conditions = Vec::new();
    let is_property = |name: &str| rule.property(name).is_some();
    let tier = match rule.argument(1) {
        Some(field) if field.kind == Kind::Regex => {
            let regex = reader.optional_argument().and_then(|value| {
                let text = value.regex(out)?;
                Some((text, value.at))
            });
            if let Some((regex, at)) = regex {
                let values = vec![regex];
                conditions.push(PolicyCondition {
                    group: 0,
                    selector: Selector::Text,
                    at,
                    argument: None,
                    values,
                    except: Vec::new(),
                });
            }
            None
        }
        Some(_) => reader.tier(out),
        None if is_property(TO.name) => {
            let to = reader.value::<Tier>(TO.name, out);
            if to.is_none() && node.properties.iter().all(|it| it.name.value != TO.name) {
                out.report(node.name.at, NoTo { at: node.name.at });
            }
            to
        }
        None => None,
    };
    let text = |name, reader: &mut Reader<'_>, out: &mut Diagnostics| match is_property(name) {
        true => reader.text(name, out),
        false => None,
    };
    let tenant = text(TENANT.name, &mut reader, out);
    let role = text(ROLE.name, &mut reader, out);
    let observe = if is_property(OBSERVE.name) { reader.value(OBSERVE.name, out) } else { None };
    let ttl_s = if is_property(TTL.name) { reader.value(TTL.name, out) } else { None };
    let because = reader.text(BECAUSE.name, out);
    selectors(&mut reader, 0, &mut conditions, out);
    for (number, except) in reader.children(EXCEPTION.name).enumerate() {
        let Some(group) = u8::try_from(number + 1).ok().filter(|_| number < EXCEPTIONS_MAX) else {
            let at = except.name.at;
            out.report(at, TooManyExceptions { at });
            break;
        };
        let before = conditions.len();
        let mut reader = Reader::new(except, &EXCEPTION, out);
        selectors(&mut reader, group, &mut conditions, out);
        reader.finish(out);
        if conditions.len() == before && except.children.iter().flatten().next().is_none() {
            let at = except.name.at;
            out.report(at, EmptyException { at });
        }
    }
    let matches = texts(&mut reader, &MATCH, out);
    let no_matches = texts(&mut reader, &NO_MATCH, out);
    reader.finish(out);
    Some(PolicyRule {
        rule,
        at: node.name.at,
        name: name?,
        tier,
        observe,
        ttl_s,
        tenant,
        role,
        because,
        conditions,
        matches,
        no_matches,
        scope,
        origin: None,
    })
}

/// Reads the selectors of a rule or an exception.
fn selectors(
    reader: &mut Reader<'_>,
    group: u8,
    conditions: &mut Vec<PolicyCondition>,
    out: &mut Diagnostics,
) {
    let mut add = |selector, at, argument, values, except| {
        conditions.push(PolicyCondition { group, selector, at, argument, values, except });
    };
    for (selector, rule) in LISTS {
        for node in reader.children(rule.name) {
            let mut reader = Reader::new(node, rule, out);
            let values = reader.texts(out);
            let except = texts(&mut reader, &EXCEPT, out);
            reader.finish(out);
            add(*selector, node.name.at, None, values, except);
        }
    }
    for node in reader.children(ARG.name) {
        let mut reader = Reader::new(node, &ARG, out);
        let argument = reader.name(out);
        let values = reader.texts(out);
        let except = texts(&mut reader, &EXCEPT, out);
        reader.finish(out);
        add(Selector::Arg, node.name.at, argument, values, except);
    }
    for node in reader.children(TIERS.name) {
        let mut reader = Reader::new(node, &TIERS, out);
        let ends = [(MIN.name, Selector::TierMin), (MAX.name, Selector::TierMax)];
        let mut is_empty = true;
        for (name, selector) in ends {
            if let Some(tier) = reader.value::<Tier>(name, out) {
                let value = Spanned { value: tier.value.number().to_string(), at: tier.at };
                add(selector, tier.at, None, vec![value], Vec::new());
                is_empty = false;
            }
        }
        reader.finish(out);
        if is_empty && node.properties.is_empty() {
            let at = node.name.at;
            out.report(at, NoTier { at });
        }
    }
    for node in reader.children(TEXT.name) {
        let mut reader = Reader::new(node, &TEXT, out);
        let values = reader.texts(out);
        reader.finish(out);
        add(Selector::Text, node.name.at, None, values, Vec::new());
    }
}

fn texts(
    reader: &mut Reader<'_>,
    rule: &'static Rule,
    out: &mut Diagnostics,
) -> Vec<Spanned<String>> {
    let mut all = Vec::new();
    for node in reader.children(rule.name) {
        let mut reader = Reader::new(node, rule, out);
        all.extend(reader.texts(out));
        reader.finish(out);
    }
    all
}

/// Without a tier, nothing would be lowered.
#[derive(Debug, Error, Diagnostic)]
#[error("`lower` says no tier")]
#[diagnostic(code(rule::no_tier), help("write the highest tier of what it means: `to=1`"))]
struct NoTo {
    #[label(primary, "lowers nothing")]
    at: Span,
}

/// Without an end, every request would be meant.
#[derive(Debug, Error, Diagnostic)]
#[error("`tier` selects every request")]
#[diagnostic(code(rule::any_tier), help("write `min=` or `max=`, with a tier from 0 to 3"))]
struct NoTier {
    #[label(primary, "has neither `min=` nor `max=`")]
    at: Span,
}

/// An exception without selectors would except everything.
#[derive(Debug, Error, Diagnostic)]
#[error("this exception has no selector")]
#[diagnostic(code(rule::empty_exception), help("name what the rule does not mean, or remove it"))]
struct EmptyException {
    #[label(primary, "excepts everything")]
    at: Span,
}

/// Each exception is asked about each request that the rule may mean.
#[derive(Debug, Error, Diagnostic)]
#[error("the rule has more than {EXCEPTIONS_MAX} exceptions")]
#[diagnostic(
    code(rule::too_many_exceptions),
    help("join exceptions that differ in one selector: a selector takes several values")
)]
struct TooManyExceptions {
    #[label(primary, "the first that is too many")]
    at: Span,
}
