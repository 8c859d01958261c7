//! A rule -> its keys.

use std::collections::BTreeSet;

use relay_bundle::{Condition, Rule, RuleKind, Selector, Subject};
use relay_policy::classify::ADJUST_KEY;
use relay_policy::facts::Facts;
use relay_policy::rule::{LiteralHost, folders, literal_host, literal_path, literal_word};

use super::word::{
    ALWAYS, ANY_PROGRAM, BELOW, EFFECT, ENDS, IS, PLAIN, PROGRAM, REGEX, TOOL, TOOLS, anything,
    file, known_name,
};

/// Returns the keys of a rule, sorted.
#[must_use]
pub fn keys(rule: &Rule, facts: &Facts<'_>) -> Vec<String> {
    if matches!(rule.kind, RuleKind::Tier | RuleKind::Lower) {
        return vec![ADJUST_KEY.to_owned()];
    }
    let mut keys = meant_keys(rule, facts);
    let is_about_parts =
        |it: &Condition| it.group == 0 && it.selector.subject() != Subject::Request;
    // Those that allow are listed for the report of the nearest.
    if rule.kind == RuleKind::Allow || rule.conditions.iter().any(is_about_parts) {
        keys.push(anything(rule.kind, rule.observe));
        keys.sort_unstable();
    }
    keys
}

/// Returns keys that occur in every request that a rule means, also those of one that raises or
/// lowers, sorted.
#[must_use]
pub fn meant_keys(rule: &Rule, facts: &Facts<'_>) -> Vec<String> {
    let own: Vec<&Condition> = rule.conditions.iter().filter(|it| it.group == 0).collect();
    let of = |selector| own.iter().find(|condition| condition.selector == selector);
    let is_about = |subject| own.iter().any(|condition| condition.selector.subject() == subject);
    let is_permit = matches!(rule.kind, RuleKind::Allow | RuleKind::Lower);
    let mut keys = BTreeSet::new();
    let bases: BTreeSet<String> = if let Some(programs) = of(Selector::Program) {
        programs.values.iter().map(|program| program_key(&program.value, facts)).collect()
    } else if let Some(automaton) = of(Selector::Text).and_then(|regex| regex.automaton) {
        return vec![format!("{REGEX}{automaton}")];
    } else if let Some(texts) = of(Selector::Words) {
        texts.values.iter().map(|text| first_word_key(&text.value, facts)).collect()
    } else if is_about(Subject::Call) {
        [ANY_PROGRAM.to_owned()].into()
    } else if let Some(tools) = of(Selector::Tool) {
        tools.values.iter().map(|tool| tool_key(&tool.value)).collect()
    } else if is_about(Subject::Effect) {
        effect_keys(&own, is_permit, &mut keys);
        return keys.into_iter().collect();
    } else {
        return vec![ALWAYS.to_owned()];
    };
    let details = detail_of(&own, is_permit);
    for base in &bases {
        add_keys(base, details.as_deref(), &mut keys);
    }
    keys.into_iter().collect()
}

/// A selector, and a literal that one of its values needs.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Detail {
    Operand(String),
    Path(Selector, String),
    Host(String),
    HostEnd(String),
}

/// Returns the details of conditions that hold together: one of them is in every request that a rule
/// means. `None` if no literal needs to be in it.
fn detail_of(own: &[&Condition], is_permit: bool) -> Option<Vec<Detail>> {
    let operands = own.iter().find(|condition| condition.selector == Selector::Operands);
    if let Some(details) = operands.and_then(|operands| details_of(operands)) {
        return Some(details);
    }
    let mut effects = own.iter().filter(|it| it.selector.subject() == Subject::Effect).peekable();
    effects.peek()?;
    if is_permit {
        // Some effect is of a kind that one of them names, and that one means it.
        let each: Option<Vec<_>> = effects.map(|condition| details_of(condition)).collect();
        return Some(each?.concat());
    }
    effects.find_map(|condition| details_of(condition))
}

/// Returns the details of a condition, one for each value; `None` if a value has none.
fn details_of(condition: &Condition) -> Option<Vec<Detail>> {
    let values = condition.values.iter().map(|value| value.value.as_str());
    let selector = condition.selector;
    let details = values.map(|value| match selector {
        Selector::Operands => Some(Detail::Operand(literal_word(value)?.to_owned())),
        Selector::Connects => Some(match literal_host(value)? {
            LiteralHost::Whole(host) => Detail::Host(host.to_owned()),
            LiteralHost::End(end) => Detail::HostEnd(end.to_owned()),
        }),
        _ if selector.is_of_paths() => Some(Detail::Path(selector, literal_path(value)?)),
        _ => None,
    });
    details.collect::<Option<Vec<_>>>().filter(|details| !details.is_empty())
}

/// Adds the keys of a rule over effects alone.
fn effect_keys(own: &[&Condition], is_permit: bool, keys: &mut BTreeSet<String>) {
    let effects: Vec<_> =
        own.iter().filter(|it| it.selector.subject() == Subject::Effect).collect();
    let base = |condition: &Condition| format!("{EFFECT}{}", condition.selector.word());
    if is_permit {
        // It covers what one of them names.
        for condition in effects {
            add_keys(&base(condition), details_of(condition).as_deref(), keys);
        }
        return;
    }
    // All hold together, so any one of them is in the request.
    let detailed = effects.iter().find_map(|it| Some((*it, details_of(it)?)));
    match detailed {
        Some((condition, details)) => add_keys(&base(condition), Some(&details), keys),
        None => effects.iter().take(1).for_each(|it| add_keys(&base(it), None, keys)),
    }
}

/// Adds the keys of a base, with the details of a rule if it has some.
fn add_keys(base: &str, details: Option<&[Detail]>, keys: &mut BTreeSet<String>) {
    keys.insert(base.to_owned());
    let Some(details) = details else {
        keys.insert(format!("{base}{PLAIN}"));
        return;
    };
    for detail in details {
        let selector = match detail {
            Detail::Operand(_) => Selector::Operands,
            Detail::Path(selector, _) => *selector,
            Detail::Host(_) | Detail::HostEnd(_) => Selector::Connects,
        };
        let family = format!("{base} {}", selector.word());
        match detail {
            Detail::Operand(literal) | Detail::Host(literal) => {
                keys.insert(format!("{family}{IS}{literal}"));
            }
            Detail::HostEnd(end) => _ = keys.insert(format!("{family}{ENDS}{end}")),
            Detail::Path(_, path) => {
                keys.insert(format!("{family}{IS}{path}"));
                let around = folders(path).filter(|folder| folder != path);
                keys.extend(around.map(|folder| format!("{family}{BELOW}{folder}")));
            }
        }
        keys.insert(family);
    }
}

fn tool_key(pattern: &str) -> String {
    match pattern.find(['*', '?', '[']) {
        None => format!("{TOOL}{pattern}"),
        Some(end) => format!("{TOOLS}{}", folder(pattern.get(..end).unwrap_or_default())),
    }
}

/// Returns the beginning of a name up to its last `/`, which is part of it.
fn folder(name: &str) -> &str {
    name.rfind('/').and_then(|end| name.get(..=end)).unwrap_or_default()
}

fn program_key(program: &str, facts: &Facts<'_>) -> String {
    if program.contains(['*', '?']) {
        return ANY_PROGRAM.to_owned();
    }
    format!("{PROGRAM}{}", known_name(file(program), facts))
}

/// Returns the key of the program that a text of written words begins with.
fn first_word_key(text: &str, facts: &Facts<'_>) -> String {
    let is_name =
        |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.' | '+' | '/');
    match text.split(' ').next() {
        Some(first) if !first.is_empty() && first.chars().all(is_name) => program_key(first, facts),
        _ => ANY_PROGRAM.to_owned(),
    }
}
