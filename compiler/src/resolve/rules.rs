//! The rules and scopes of a policy: names, patterns and words.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use miette::Diagnostic;
use relay_bundle::{RuleKind, Selector, Subject};
use relay_engine::nearest::nearest;
use relay_policy::path_rules::{PathPattern, PatternError};
use thiserror::Error;

use crate::ast::{Policy, PolicyCondition, PolicyRule};
use crate::automaton::RegexError;
use crate::diagnostic::Diagnostics;
use crate::source::{Sources, Span, Spanned};

/// The classes of paths that every policy knows.
const CLASSES: &[&str] = &["secret", "critical", "admits", "scratch", "device", "agent-config"];
/// The words of selectors that take words.
const SENT: &[&str] = &["secret", "file", "output", "body", "data", "*"];
const RUN: &[&str] = &["opaque", "remote", "made", "*"];
/// The most rules of a project.
pub(crate) const RULES_MAX: usize = 10_000;
/// The most scopes of a project: each is asked of each request.
pub(crate) const SCOPES_MAX: usize = 256;

/// Checks the rules of a policy by themselves.
pub(super) fn check(sources: &Sources<'_>, policy: &Policy, out: &mut Diagnostics) {
    let mut first_at: HashMap<&str, Span> = HashMap::new();
    let classes = classes(policy, out);
    for rule in &policy.rules {
        let Spanned { value: name, at } = &rule.name;
        match first_at.get(name.as_str()) {
            Some(first_at) => {
                let (name, first_at, at) = (name.clone(), *first_at, *at);
                out.report(at, RuleTwice { name, first_at, at });
            }
            None => _ = first_at.insert(name, *at),
        }
        if rule.conditions.iter().all(|condition| condition.group != 0) {
            out.report(rule.at, EverythingMeant { kind: rule.rule.name, at: rule.at });
        }
        if rule.kind() == RuleKind::Lower && super::policy::reason(rule.because.as_ref()).is_none()
        {
            out.report(rule.at, LowerWithoutReason { at: rule.at });
        }
        for condition in &rule.conditions {
            check_regexes(sources, condition, out);
            check_condition(rule, condition, &classes, out);
        }
    }
    if let Some(rule) = policy.rules.get(RULES_MAX) {
        let (count, at) = (policy.rules.len(), rule.at);
        out.report(at, TooManyRules { count, at });
    }
    if let Some(scope) = policy.scopes.get(SCOPES_MAX) {
        let (count, at) = (policy.scopes.len(), scope.at);
        out.report(at, TooManyScopes { count, at });
    }
}

/// Returns the names of the project's classes of paths.
fn classes<'p>(policy: &'p Policy, out: &mut Diagnostics) -> BTreeSet<&'p str> {
    let mut names = BTreeSet::new();
    for class in &policy.classes {
        let settings = &class.settings;
        let patterns = settings.patterns.iter().chain(&settings.except).flatten();
        for text in patterns {
            if let Err(error) = PathPattern::new(&text.value) {
                out.report(text.at, NoClassPath { error, at: text.at });
            }
        }
        let Some(name) = &settings.name else { continue };
        let is_built_in = CLASSES.contains(&name.value.as_str());
        let is_word = name.value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if is_built_in || !is_word || !names.insert(name.value.as_str()) {
            let reason = match (is_built_in, is_word) {
                (true, _) => "it is a class that every policy has",
                (_, false) => "a name has letters, digits and `-`",
                _ => "another class has it",
            };
            out.report(name.at, ClassName { reason, at: name.at });
        }
    }
    names
}

fn check_regexes(sources: &Sources<'_>, condition: &PolicyCondition, out: &mut Diagnostics) {
    if condition.selector != Selector::Text {
        return;
    }
    for text in &condition.values {
        if let Err(error) = &*sources.automata().of(&text.value) {
            let at = part_of(text, error);
            let (fault, help) = (error.fault.to_string(), error.fault.help());
            out.report(at, BadRegex { fault, help, at });
        }
    }
}

fn check_condition(
    rule: &PolicyRule,
    condition: &PolicyCondition,
    classes: &BTreeSet<&str>,
    out: &mut Diagnostics,
) {
    let PolicyCondition { selector, at, values, except, .. } = condition;
    let kind = rule.kind();
    let permits = matches!(kind, RuleKind::Allow | RuleKind::Lower);
    if *selector == Selector::Text && permits {
        out.report(*at, PermitByText { kind: rule.rule.name, at: *at });
    }
    let adjusts = matches!(kind, RuleKind::Tier | RuleKind::Lower);
    if adjusts && selector.subject() == Subject::Request {
        let selector = selector.word();
        out.report(*at, AdjustByRequest { kind: rule.rule.name, selector, at: *at });
    }
    if *selector == Selector::Text {
        return;
    }
    for text in values.iter().chain(except) {
        let Spanned { value, at } = text;
        let words = match selector {
            Selector::Sends => Some(SENT),
            Selector::Runs => Some(RUN),
            _ => None,
        };
        if let Some(words) = words.filter(|words| !words.contains(&value.as_str())) {
            let help = help(value, words.iter().copied());
            out.report(
                *at,
                UnknownValue { selector: selector.word(), value: value.clone(), help, at: *at },
            );
        }
        if selector.is_of_paths() {
            check_path(value, *at, classes, out);
        }
    }
}

/// Returns the place of the part of a regex at fault; the whole value where it has escapes.
fn part_of(text: &Spanned<String>, error: &RegexError) -> Span {
    let Spanned { value, at } = text;
    let written = (at.end - at.start) as usize;
    // A text in quotes without escapes is as long as its value and the quotes.
    let quotes = written.saturating_sub(value.len());
    if !quotes.is_multiple_of(2) || value.contains(['\\', '"']) {
        return *at;
    }
    let start = at.start as usize + quotes / 2;
    let place = |byte: usize| u32::try_from(start + byte).unwrap_or(at.end);
    Span { start: place(error.at.start), end: place(error.at.end), ..*at }
}

fn check_path(value: &str, at: Span, classes: &BTreeSet<&str>, out: &mut Diagnostics) {
    if value == "*" || CLASSES.contains(&value) || classes.contains(value) {
        return;
    }
    let is_word = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_word {
        let help = help(value, CLASSES.iter().copied().chain(classes.iter().copied()));
        out.report(at, UnknownClass { name: value.to_owned(), help, at });
    } else if let Err(error) = PathPattern::new(value) {
        out.report(at, NoPath { error, at });
    }
}

fn help<'k>(value: &str, known: impl Iterator<Item = &'k str> + Clone) -> String {
    match nearest(value, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let known: Vec<String> = known.map(|word| format!("`{word}`")).collect();
            format!("write one of {}", known.join(", "))
        }
    }
}

/// The name of a rule is what records and refusals say.
#[derive(Debug, Error, Diagnostic)]
#[error("the rule `{name}` is declared twice")]
#[diagnostic(code(rule::twice), help("give one of them another name"))]
struct RuleTwice {
    name: String,
    #[label("first here")]
    first_at: Span,
    #[label(primary, "again here")]
    at: Span,
}

/// Without a selector, a rule would mean every request.
#[derive(Debug, Error, Diagnostic)]
#[error("this `{kind}` has no selector")]
#[diagnostic(
    code(rule::everything),
    help(
        "name what it means: `program`, `writes`, `tool` or another selector; a mode is for everything"
    )
)]
struct EverythingMeant {
    kind: &'static str,
    #[label(primary, "means every request")]
    at: Span,
}

/// A lower tier admits refused commands. The reviewer needs the reason.
#[derive(Debug, Error, Diagnostic)]
#[error("`lower` gives no reason")]
#[diagnostic(code(rule::lower_without_reason), help("add `because=\"…\"`; it shows in the review"))]
struct LowerWithoutReason {
    #[label(primary, "lowers a tier")]
    at: Span,
}

/// A regex sees a text alone, and the same text may hold other commands.
#[derive(Debug, Error, Diagnostic)]
#[error("`{kind}` cannot go by the text")]
#[diagnostic(
    code(rule::permit_by_text),
    help("name the program, its sub-command and its operands, or the effects")
)]
struct PermitByText {
    kind: &'static str,
    #[label(primary, "a text may hold more than this")]
    at: Span,
}

/// A text has one tier, for every caller and through every tool.
#[derive(Debug, Error, Diagnostic)]
#[error("`{kind}` cannot go by `{selector}`")]
#[diagnostic(
    code(rule::adjust_by_request),
    help("it takes selectors of programs and effects; `deny` and `allow` take all of them")
)]
struct AdjustByRequest {
    kind: &'static str,
    selector: &'static str,
    #[label(primary, "is not about a program or an effect")]
    at: Span,
}

/// A mistyped word would select nothing.
#[derive(Debug, Error, Diagnostic)]
#[error("`{selector}` does not take `{value}`")]
#[diagnostic(code(rule::unknown_value))]
struct UnknownValue {
    selector: &'static str,
    value: String,
    #[help]
    help: String,
    #[label(primary, "not one of its words")]
    at: Span,
}

/// A mistyped class would select nothing.
#[derive(Debug, Error, Diagnostic)]
#[error("unknown class of paths `{name}`")]
#[diagnostic(code(rule::unknown_class))]
struct UnknownClass {
    name: String,
    #[help]
    help: String,
    #[label(primary, "no class has this name")]
    at: Span,
}

/// A pattern that is read in another way than its author meant would match other paths.
#[derive(Debug, Error, Diagnostic)]
#[error("neither a class nor a pattern of paths: {error}")]
#[diagnostic(
    code(rule::no_path),
    help(
        "a pattern begins with `/`, `~/`, `./` or `**/`; a class is a word: `secret`, `critical`, `agent-config`"
    )
)]
struct NoPath {
    error: PatternError,
    #[label(primary, "cannot be matched")]
    at: Span,
}

/// A regex that cannot be searched in one pass over a text, or means another thing than in Python.
#[derive(Debug, Error, Diagnostic)]
#[error("this regex cannot be used: {fault}")]
#[diagnostic(code(rule::regex))]
struct BadRegex {
    fault: String,
    #[help]
    help: &'static str,
    #[label(primary, "here")]
    at: Span,
}

/// The same, in a class.
#[derive(Debug, Error, Diagnostic)]
#[error("not a pattern of paths: {error}")]
#[diagnostic(
    code(rule::no_class_path),
    help(
        "a pattern begins with `/`, `~/`, `./` or `**/`; `*` matches letters within a part, `**` any parts"
    )
)]
struct NoClassPath {
    error: PatternError,
    #[label(primary, "cannot be matched")]
    at: Span,
}

/// A rule that names the class could mean another one.
#[derive(Debug, Error, Diagnostic)]
#[error("a class of paths cannot have this name: {reason}")]
#[diagnostic(code(rule::class_name), help("give it another name"))]
struct ClassName {
    reason: &'static str,
    #[label(primary, "not a name for a class")]
    at: Span,
}

/// More rules than anyone can review.
#[derive(Debug, Error, Diagnostic)]
#[error("{count} rules, and a project may have {RULES_MAX}")]
#[diagnostic(code(rule::too_many), help("join rules: a selector takes several values"))]
struct TooManyRules {
    count: usize,
    #[label(primary, "the first that is too many")]
    at: Span,
}

/// Each scope is asked of each request.
#[derive(Debug, Error, Diagnostic)]
#[error("{count} scopes, and a project may have {SCOPES_MAX}")]
#[diagnostic(code(rule::too_many_scopes), help("join scopes of the same callers"))]
struct TooManyScopes {
    count: usize,
    #[label(primary, "the first that is too many")]
    at: Span,
}
