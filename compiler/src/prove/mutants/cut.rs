//! The parts of a rule that a mutant leaves out.

use relay_bundle::{Rule, RuleKind, Selector};

use crate::ast::{PolicyCondition, PolicyRule};
use crate::prove::coverage::Kind;
use crate::source::{Span, Spanned};

/// The kind of the part that a mutant leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cut {
    /// The whole rule.
    Rule,
    /// A selector of the rule or of an exception.
    Selector,
    /// A value of a selector with several.
    Value,
    /// An exception of the rule, or a value that a selector excepts.
    Exception,
}

/// A part of a rule that is left out.
pub(super) struct Part {
    pub(super) cut: Cut,
    /// The part as written.
    pub(super) removed: String,
    pub(super) at: Span,
    place: Place,
}

/// The place of a part in a rule: numbers of conditions and of their values.
#[derive(Clone, Copy)]
enum Place {
    All,
    Group(u8),
    Condition(usize),
    Value(usize, usize),
    Except(usize, usize),
}

/// Returns the parts of a rule, in the order of the text. A rule or an exception needs a selector, and
/// a selector a value, so the last one of each stays.
pub(super) fn parts(rule: &PolicyRule) -> Vec<Part> {
    let part = |cut, removed, at, place| Part { cut, removed, at, place };
    let mut parts = vec![part(Cut::Rule, String::new(), rule.name.at, Place::All)];
    let conditions = sorted(rule);
    let of_group = |group| conditions.iter().filter(move |condition| condition.group == group);
    let mut last = 0;
    for (number, condition) in conditions.iter().enumerate() {
        let PolicyCondition { group, selector, at, values, except, .. } = condition;
        if *group != last {
            last = *group;
            let words: Vec<String> = of_group(last).map(|it| words(it)).collect();
            let removed = format!("except {{ {} }}", words.join("; "));
            parts.push(part(Cut::Exception, removed, *at, Place::Group(last)));
        }
        if of_group(*group).count() > 1 {
            parts.push(part(Cut::Selector, words(condition), *at, Place::Condition(number)));
        }
        if values.len() > 1 {
            for (place, value) in values.iter().enumerate() {
                let removed = format!("{} of `{}`", quoted(&value.value), selector.word());
                parts.push(part(Cut::Value, removed, value.at, Place::Value(number, place)));
            }
        }
        for (place, value) in except.iter().enumerate() {
            let removed = format!("except {} of `{}`", quoted(&value.value), selector.word());
            parts.push(part(Cut::Exception, removed, value.at, Place::Except(number, place)));
        }
    }
    parts
}

/// Returns the conditions of a rule in the order of its bundle.
fn sorted(rule: &PolicyRule) -> Vec<&PolicyCondition> {
    let mut conditions: Vec<&PolicyCondition> = rule.conditions.iter().collect();
    conditions.sort_by_key(|condition| condition.group);
    conditions
}

impl Part {
    /// Returns the rule without the part; `None` if nothing is left.
    pub(super) fn apply(&self, rule: &Rule) -> Option<Rule> {
        let mut rule = rule.clone();
        match self.place {
            Place::All => return None,
            Place::Group(group) => rule.conditions.retain(|condition| condition.group != group),
            Place::Condition(number) => _ = rule.conditions.remove(number),
            Place::Value(number, value) => {
                if let Some(condition) = rule.conditions.get_mut(number) {
                    condition.values.remove(value);
                }
            }
            Place::Except(number, value) => {
                if let Some(condition) = rule.conditions.get_mut(number) {
                    condition.except.remove(value);
                }
            }
        }
        Some(rule)
    }

    /// Returns the kind of part for coverage; `None` for those that go with another part.
    pub(super) fn covered(&self) -> Option<Kind> {
        match self.place {
            Place::All | Place::Value(..) => None,
            Place::Condition(_) => Some(Kind::Selector),
            Place::Group(_) | Place::Except(..) => Some(Kind::Exception),
        }
    }

    /// Returns a rule with this part as its only selector.
    pub(super) fn alone(&self, rule: &Rule) -> Rule {
        let mut alone = Rule { kind: RuleKind::Deny, ..rule.clone() };
        let mut number = 0;
        alone.conditions.retain(|condition| {
            number += 1;
            match self.place {
                Place::All => true,
                Place::Group(group) => condition.group == group,
                Place::Condition(of) | Place::Value(of, _) | Place::Except(of, _) => {
                    number == of + 1
                }
            }
        });
        for condition in &mut alone.conditions {
            condition.group = 0;
            match self.place {
                Place::Except(_, value) => {
                    let excepted = condition.except.get(value).cloned();
                    condition.values = excepted.into_iter().collect();
                    condition.except.clear();
                }
                Place::Value(_, value) => {
                    let one = condition.values.get(value).cloned();
                    condition.values = one.into_iter().collect();
                }
                Place::All | Place::Group(_) | Place::Condition(_) => {}
            }
        }
        alone
    }
}

/// Returns a selector as written.
fn words(condition: &PolicyCondition) -> String {
    let PolicyCondition { selector, argument, values, except, .. } = condition;
    let texts = |texts: &[Spanned<String>]| {
        let texts: Vec<String> = texts.iter().map(|text| quoted(&text.value)).collect();
        texts.join(" ")
    };
    let first = || values.first().map_or("", |value| &value.value);
    let mut words = match selector {
        Selector::TierMin => return format!("tier min={}", first()),
        Selector::TierMax => return format!("tier max={}", first()),
        Selector::Text => return format!("text (regex){:?}", first()),
        selector => selector.word().to_owned(),
    };
    if let Some(argument) = argument {
        words.push_str(&format!(" {}", quoted(&argument.value)));
    }
    words.push_str(&format!(" {}", texts(values)));
    if !except.is_empty() {
        words.push_str(&format!(" {{ except {} }}", texts(except)));
    }
    words
}

/// Returns a value as written: in quotes, unless it is a word.
fn quoted(text: &str) -> String {
    let is_word = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        && !["true", "false", "null", "inf", "nan"].contains(&text);
    if is_word { text.to_owned() } else { format!("{text:?}") }
}
