//! A selector that a rule gives twice, and a value that it repeats.
//!
//! Selectors hold together, so two of one kind mean only requests with both; most authors mean either.

use hashbrown::HashMap;
use miette::Diagnostic;
use relay_bundle::Selector;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Span;

/// Selectors hold together, so a rule of two programs means no call.
#[derive(Debug, Error, Diagnostic)]
#[error("`{selector}` is given twice, so both must hold")]
#[diagnostic(
    code(rule::selector_twice),
    severity(Warning),
    help("one `{selector}` with all values means any of them")
)]
struct SelectorTwice {
    selector: &'static str,
    #[label("first here")]
    first_at: Span,
    #[label(primary, "and here")]
    at: Span,
}

/// One of the two may have been meant to be another value.
#[derive(Debug, Error, Diagnostic)]
#[error("`{value}` is given twice")]
#[diagnostic(code(rule::value_twice), severity(Warning), help("remove one"))]
struct ValueTwice {
    value: String,
    #[label("first here")]
    first_at: Span,
    #[label(primary, "again here")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let Some((policy, _)) = &model.policy else { return };
    for rule in policy.rules.iter().filter(|rule| rule.origin.is_none()) {
        let mut first: HashMap<(u8, Selector, Option<&str>), Span> = HashMap::new();
        for condition in &rule.conditions {
            let argument = condition.argument.as_ref().map(|name| name.value.as_str());
            let (selector, at) = (condition.selector, condition.at);
            match first.get(&(condition.group, selector, argument)) {
                Some(first_at) => {
                    let (selector, first_at) = (selector.word(), *first_at);
                    out.report(at, SelectorTwice { selector, first_at, at });
                }
                None => _ = first.insert((condition.group, selector, argument), at),
            }
            for list in [&condition.values, &condition.except] {
                let mut first: HashMap<&str, Span> = HashMap::new();
                for value in list {
                    match first.get(value.value.as_str()) {
                        Some(first_at) => {
                            let (text, first_at, at) = (value.value.clone(), *first_at, value.at);
                            out.report(at, ValueTwice { value: text, first_at, at });
                        }
                        None => _ = first.insert(&value.value, value.at),
                    }
                }
            }
        }
    }
}
