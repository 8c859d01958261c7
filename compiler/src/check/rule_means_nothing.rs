//! A rule whose selectors leave nothing: tiers that exclude each other, and exceptions of all values.

use miette::Diagnostic;
use relay_bundle::Selector;
use thiserror::Error;

use crate::ast::PolicyCondition;
use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Span;

/// Such a rule would have no effect.
#[derive(Debug, Error, Diagnostic)]
#[error("no tier is at least {min} and at most {max}")]
#[diagnostic(
    code(rule::tier_range),
    help("`tier min=2` means tiers 2 and 3, `tier max=1` 0 and 1")
)]
struct NoTier {
    min: String,
    max: String,
    #[label(primary, "means nothing")]
    at: Span,
}

/// The author may have meant another tier: as it stands, a rule of this selector alone means
/// everything.
#[derive(Debug, Error, Diagnostic)]
#[error("every request has this tier")]
#[diagnostic(
    code(rule::every_tier),
    severity(Warning),
    help("leave it out beside other selectors; a `mode` is for everything")
)]
struct EveryTier {
    #[label(primary, "excludes nothing")]
    at: Span,
}

/// Such a rule would have no effect.
#[derive(Debug, Error, Diagnostic)]
#[error("the exceptions of this `{selector}` leave nothing")]
#[diagnostic(code(rule::nothing_left), help("remove the exception, or the rule"))]
struct NothingLeft {
    selector: &'static str,
    #[label("all that it means")]
    at: Span,
    #[label(primary, "is excepted here")]
    except_at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let Some((policy, _)) = &model.policy else { return };
    for rule in &policy.rules {
        for condition in &rule.conditions {
            nothing_left(condition, out);
            check_tier(condition, &rule.conditions, out);
        }
    }
}

fn nothing_left(condition: &PolicyCondition, out: &mut Diagnostics) {
    let excepts = |value: &str| {
        let mut except = condition.except.iter();
        except.find(|except| except.value == "*" || except.value == value)
    };
    let excepted = condition.values.iter().map(|value| excepts(&value.value));
    let excepted: Option<Vec<_>> = excepted.collect();
    if let Some(first) = excepted.and_then(|all| all.first().copied()) {
        let (selector, at) = (condition.selector.word(), condition.at);
        out.report(first.at, NothingLeft { selector, at, except_at: first.at });
    }
}

/// Tiers are one selector with two words; a condition has one of them.
fn check_tier(condition: &PolicyCondition, all: &[PolicyCondition], out: &mut Diagnostics) {
    let number = |condition: &PolicyCondition| {
        condition.values.first().and_then(|value| value.value.parse::<u8>().ok())
    };
    let Some(given) = number(condition) else { return };
    let at = condition.at;
    match condition.selector {
        Selector::TierMin => {
            let is_max = |it: &&PolicyCondition| {
                it.selector == Selector::TierMax && it.group == condition.group
            };
            match all.iter().find(is_max).and_then(number) {
                Some(max) if max < given => {
                    let (min, max) = (given.to_string(), max.to_string());
                    out.report(at, NoTier { min, max, at });
                }
                _ if given == 0 => out.report(at, EveryTier { at }),
                _ => {}
            }
        }
        Selector::TierMax if given >= 3 => out.report(at, EveryTier { at }),
        _ => {}
    }
}
