//! A policy as static rules of clients: what its rules mean, as far as a client's rules can say it, and the commands that it
//! certainly lets run.
//!
//! An allow is exported as one text, and only if the policy decides `allow` for it in every form in which a client would let it
//! through. Rules that restrict are a second line of defence: most restrict a part, and the hook decides the rest.

use std::collections::BTreeSet;

use relay_bundle::{Bundle, Condition, Mode, Policy, Rule, RuleKind, Selector};

use super::decider::Decider;
use super::model::{Answer, At};
use super::report::{Match, RuleRow};
use crate::failure::Failure;

/// The most commands that are allowed.
const ALLOWED_MAX: usize = 64;
/// The most calls that one rule becomes.
const CALLS_MAX: usize = 64;

/// Calls that a client's rule can be about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Calls {
    /// Commands that begin with these words.
    Prefix(Vec<String>),
    /// Commands that begin with these words and have this one among those after them.
    Containing(Vec<String>, String),
    /// One command.
    Text(String),
    /// Files that are read, by a pattern of relay.
    Reads(String),
    /// Files that are written, by a pattern of relay.
    Writes(String),
    /// A host.
    Host(String),
    /// Tools of other servers, and an argument.
    Tool(String, Option<(String, String)>),
    /// All changes of files.
    AnyWrite,
}

/// A rule of the policy as calls of a client's rules.
#[derive(Debug, Clone)]
pub(crate) struct StaticRule {
    /// Its row in the report.
    pub(crate) row: RuleRow,
    /// Its answer.
    pub(crate) answer: Answer,
    /// The calls.
    pub(crate) calls: Vec<Calls>,
    /// How far the calls mean the same.
    pub(crate) matched: Match,
    /// The differences.
    pub(crate) reasons: Vec<String>,
}

/// The caller of an export, and the ways of the client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// The tenant of the caller.
    pub(crate) tenant: Option<&'a str>,
    /// The role of the caller.
    pub(crate) role: Option<&'a str>,
    /// Whether rules that restrict more than the policy are exported.
    pub(crate) is_strict: bool,
    /// Forms in which the client lets an allowed text run: `@` is the text.
    pub(crate) forms: &'a [&'a str],
    /// Whether allowed texts may be joined to one.
    pub(crate) joins: bool,
}

/// Returns the rules of a policy that are in force for a caller.
pub(crate) fn rules(
    bundle: &Bundle,
    decider: &Decider<'_>,
    asked: &Asked<'_>,
) -> Result<Vec<StaticRule>, Failure> {
    let Some(policy) = bundle.policy() else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    let mut allowed: Vec<String> = Vec::new();
    for rule in bundle.rules() {
        let rule = rule?.to_owned()?;
        let row = RuleRow {
            matched: Match::NotExpressible,
            at: At { file: rule.at.file.clone(), line: rule.at.line as usize },
            level: None,
            rule: format!("{} {}", rule.kind.word(), rule.name),
            becomes: Vec::new(),
            written: None,
            reasons: Vec::new(),
        };
        if matches!(rule.kind, RuleKind::Tier | RuleKind::Lower) || !holds(policy, &rule, asked) {
            continue;
        }
        let exported = match rule.kind {
            RuleKind::Allow => allow(&rule, decider, asked, &mut allowed)?,
            RuleKind::Deny | RuleKind::Approve if rule.observe => {
                Restricted::none("it is only observed: it denies nothing")
            }
            _ => restrict(policy, &rule, asked.is_strict),
        };
        let answer = match rule.kind {
            RuleKind::Deny => Answer::Deny,
            RuleKind::Approve => Answer::Ask,
            _ => Answer::Allow,
        };
        let Restricted { calls, matched, reasons } = exported;
        all.push(StaticRule { row, answer, calls, matched, reasons });
    }
    mode(policy, decider, &mut all);
    Ok(all)
}

/// Adds the row of the mode.
fn mode(policy: &Policy, decider: &Decider<'_>, all: &mut Vec<StaticRule>) {
    let at = policy.mode.at.as_ref().unwrap_or(&policy.at);
    let mode = decider.mode().unwrap_or(policy.mode.value);
    let row = RuleRow {
        matched: Match::NotExpressible,
        at: At { file: at.file.clone(), line: at.line as usize },
        level: None,
        rule: format!("mode {}", mode.word()),
        becomes: Vec::new(),
        written: None,
        reasons: Vec::new(),
    };
    let (calls, matched, reason) = match mode {
        Mode::Readonly => (
            vec![Calls::AnyWrite],
            Match::Partial,
            "files are not edited; what commands do is decided by the hook",
        ),
        Mode::Guarded | Mode::Open => {
            (Vec::new(), Match::NotExpressible, "tiers are decided by the hook alone")
        }
    };
    let reasons = vec![reason.to_owned()];
    all.push(StaticRule { row, answer: Answer::Deny, calls, matched, reasons });
}

/// Returns whether a rule counts for a caller on the own host.
fn holds(policy: &Policy, rule: &Rule, asked: &Asked<'_>) -> bool {
    let mut next = rule.scope;
    while let Some(number) = next {
        let Some(scope) = policy.scopes.get(number as usize) else { return false };
        let is = |wanted: &Option<String>, given: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| given == Some(wanted))
        };
        if !is(&scope.tenant, asked.tenant)
            || !is(&scope.role, asked.role)
            || !scope.hosts.is_empty()
        {
            return false;
        }
        next = scope.parent.filter(|parent| *parent < number);
    }
    true
}

/// The calls of a rule, or the reason for their absence.
struct Restricted {
    calls: Vec<Calls>,
    matched: Match,
    reasons: Vec<String>,
}

impl Restricted {
    fn none(reason: &str) -> Self {
        Self { calls: Vec::new(), matched: Match::NotExpressible, reasons: vec![reason.to_owned()] }
    }
}

/// The conditions of a rule that restricts.
struct Conditions<'r> {
    own: Vec<&'r Condition>,
}

impl<'r> Conditions<'r> {
    fn values(&self, selector: Selector) -> Vec<&'r str> {
        let of = self.own.iter().filter(|condition| condition.selector == selector);
        of.flat_map(|condition| condition.values.iter().map(|value| value.value.as_str())).collect()
    }

    fn has(&self, selector: Selector) -> bool {
        self.own.iter().any(|condition| condition.selector == selector)
    }
}

/// Returns the calls of a rule that denies or asks.
fn restrict(policy: &Policy, rule: &Rule, is_strict: bool) -> Restricted {
    let own: Vec<&Condition> = rule.conditions.iter().filter(|it| it.group == 0).collect();
    let mut reasons = Vec::new();
    let has_exception = rule.conditions.iter().any(|it| it.group > 0 || !it.except.is_empty());
    let conditions = Conditions { own };
    let is_of_call = |selector| {
        matches!(selector, Selector::Program | Selector::Sub | Selector::Flags | Selector::Operands)
    };
    let is_of_files =
        |selector| matches!(selector, Selector::Reads | Selector::Writes | Selector::Touches);
    let all_are =
        |test: &dyn Fn(Selector) -> bool| conditions.own.iter().all(|it| test(it.selector));
    let (calls, mut matched) = if conditions.has(Selector::Program) {
        let others = conditions.own.iter().filter(|it| !is_of_call(it.selector));
        let others: BTreeSet<&str> = others.map(|it| it.selector.word()).collect();
        if !others.is_empty() {
            let others: Vec<_> = others.into_iter().collect();
            let reason = format!("a client does not see {}", others.join(", "));
            if !is_strict {
                return Restricted::none(&reason);
            }
            reasons.push(format!("{reason}: more commands are meant"));
        }
        let calls = commands(&conditions);
        let matched = if reasons.is_empty() { Match::Partial } else { Match::Stricter };
        reasons.push(
            "commands as they are written alone: other spellings, paths and scripts are decided by the hook"
                .to_owned(),
        );
        (calls, matched)
    } else if all_are(&is_of_files) && conditions.own.len() == 1 {
        reasons
            .push("it holds for the client's tools; commands are decided by the hook".to_owned());
        (files(policy, &conditions, &mut reasons), Match::Partial)
    } else if all_are(&|it| it == Selector::Connects) {
        reasons
            .push("it holds for the client's fetches; commands are decided by the hook".to_owned());
        let hosts = conditions.values(Selector::Connects);
        (hosts.into_iter().map(|it| Calls::Host(it.to_owned())).collect(), Match::Partial)
    } else if conditions.has(Selector::Tool)
        && all_are(&|it| matches!(it, Selector::Tool | Selector::Arg))
    {
        tools(&conditions)
    } else {
        let words: BTreeSet<&str> = conditions.own.iter().map(|it| it.selector.word()).collect();
        let words: Vec<_> = words.into_iter().collect();
        return Restricted::none(&format!("a client does not see {}", words.join(", ")));
    };
    if has_exception {
        if !is_strict {
            return Restricted::none("a client's rule has no exceptions");
        }
        reasons.push("its exceptions are restricted, too".to_owned());
        matched = Match::Stricter;
    }
    if calls.is_empty() || calls.len() > CALLS_MAX {
        return Restricted::none(
            "its values are classes, patterns or too many for a client's rules",
        );
    }
    Restricted { calls, matched, reasons }
}

fn commands(conditions: &Conditions<'_>) -> Vec<Calls> {
    let mut prefixes: Vec<Vec<String>> = Vec::new();
    let subs = conditions.values(Selector::Sub);
    for program in conditions.values(Selector::Program) {
        if subs.is_empty() {
            prefixes.push(vec![program.to_owned()]);
        }
        for sub in &subs {
            let words = std::iter::once(program).chain(sub.split(' '));
            prefixes.push(words.map(str::to_owned).collect());
        }
    }
    // Options and operands hold together, and a client's rule has one word after the others.
    if conditions.has(Selector::Flags) && conditions.has(Selector::Operands) {
        return Vec::new();
    }
    let words =
        [conditions.values(Selector::Flags), conditions.values(Selector::Operands)].concat();
    if words.is_empty() {
        return prefixes.into_iter().map(Calls::Prefix).collect();
    }
    let with = |prefix: &Vec<String>| {
        let prefix = prefix.clone();
        words
            .iter()
            .map(move |word| Calls::Containing(prefix.clone(), (*word).to_owned()))
            .collect::<Vec<_>>()
    };
    prefixes.iter().flat_map(with).collect()
}

fn files(policy: &Policy, conditions: &Conditions<'_>, reasons: &mut Vec<String>) -> Vec<Calls> {
    let mut calls = Vec::new();
    for condition in &conditions.own {
        for value in &condition.values {
            let value = value.value.as_str();
            let class = policy.classes.iter().find(|class| class.name == value);
            let of_kind = || {
                let rows = policy.paths.iter().filter(|row| row.kind.word() == value);
                rows.flat_map(|row| row.patterns.clone()).collect::<Vec<_>>()
            };
            let patterns = match class {
                Some(class) if class.except.is_empty() => class.patterns.clone(),
                Some(_) => Vec::new(),
                None if value.contains('/') => vec![value.to_owned()],
                None => of_kind(),
            };
            if !value.contains('/') {
                reasons.push(format!("of `{value}`, the patterns of the project alone"));
            }
            for pattern in patterns {
                if condition.selector != Selector::Writes {
                    calls.push(Calls::Reads(pattern.clone()));
                }
                if condition.selector != Selector::Reads {
                    calls.push(Calls::Writes(pattern));
                }
            }
        }
    }
    calls
}

fn tools(conditions: &Conditions<'_>) -> (Vec<Calls>, Match) {
    let arguments: Vec<&&Condition> =
        conditions.own.iter().filter(|it| it.selector == Selector::Arg).collect();
    let mut calls = Vec::new();
    for pattern in conditions.values(Selector::Tool) {
        match arguments.as_slice() {
            [] => calls.push(Calls::Tool(pattern.to_owned(), None)),
            [argument] => {
                let name = argument.argument.clone().unwrap_or_default();
                for value in &argument.values {
                    let argument = Some((name.clone(), value.value.clone()));
                    calls.push(Calls::Tool(pattern.to_owned(), argument));
                }
            }
            // Several hold together; a client's rule has one.
            _ => return (Vec::new(), Match::NotExpressible),
        }
    }
    (calls, Match::Exact)
}

/// Returns the commands of a rule that allows: texts for which the policy decides so in every form.
fn allow(
    rule: &Rule,
    decider: &Decider<'_>,
    asked: &Asked<'_>,
    allowed: &mut Vec<String>,
) -> Result<Restricted, Failure> {
    let mut calls = Vec::new();
    let mut left_out = 0;
    for text in candidates(rule) {
        if !is_plain(&text) || allowed.contains(&text) {
            continue;
        }
        if allowed.len() == ALLOWED_MAX || !is_closed(&text, decider, asked, allowed)? {
            left_out += 1;
            continue;
        }
        allowed.push(text.clone());
        calls.push(Calls::Text(text));
    }
    if calls.is_empty() {
        return Ok(Restricted::none(
            "no command of it is certainly allowed in every form in which the client would run it",
        ));
    }
    let mut reasons =
        vec!["its examples and literal commands alone, as they are written".to_owned()];
    if left_out > 0 {
        reasons.push(format!("{left_out} of them are left out: the client would let more run"));
    }
    Ok(Restricted { calls, matched: Match::Stricter, reasons })
}

/// Returns texts that a rule may allow: its examples, and its literal words.
fn candidates(rule: &Rule) -> Vec<String> {
    let examples = rule.examples.iter().filter(|example| example.matches);
    let mut texts: Vec<String> = examples.map(|example| example.text.clone()).collect();
    let own: Vec<&Condition> = rule.conditions.iter().filter(|it| it.group == 0).collect();
    let conditions = Conditions { own };
    let is_literal = |word: &str| !word.contains(['*', '?']);
    let mut prefixes: Vec<String> = Vec::new();
    for program in conditions.values(Selector::Program) {
        let subs = conditions.values(Selector::Sub);
        prefixes.extend(subs.iter().map(|sub| format!("{program} {sub}")));
        if subs.is_empty() {
            prefixes.push(program.to_owned());
        }
    }
    if !conditions.has(Selector::Flags) && prefixes.iter().all(|prefix| is_literal(prefix)) {
        let operands = conditions.values(Selector::Operands);
        let is_whole = own_words_alone(&conditions);
        for prefix in &prefixes {
            texts.extend(is_whole.then(|| prefix.clone()));
            let literal = operands.iter().filter(|operand| is_literal(operand));
            texts.extend(literal.map(|operand| format!("{prefix} {operand}")));
        }
    }
    texts.truncate(CALLS_MAX * 4);
    texts
}

/// Returns whether program and sub-command are all that a rule selects.
fn own_words_alone(conditions: &Conditions<'_>) -> bool {
    conditions.own.iter().all(|it| matches!(it.selector, Selector::Program | Selector::Sub))
}

/// Returns whether a text is one command of plain words whose state ends with it.
fn is_plain(text: &str) -> bool {
    const STATEFUL: &[&str] = &[
        "cd", "pushd", "popd", "export", "alias", "unalias", "set", "unset", "shopt", "trap",
        "exec", "eval", "source", ".", "declare", "typeset", "local", "readonly", "read",
        "mapfile", "enable", "hash", "umask", "ulimit", "wait", "bind", "complete", "xargs",
    ];
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || " ./_-@%+=,:^".contains(letter);
    let first = text.split(' ').next().unwrap_or_default();
    !text.is_empty()
        && text.len() <= 512
        && text.trim() == text
        && !text.contains("  ")
        && !text.ends_with(':')
        && text.chars().all(is_word)
        && !first.contains('=')
        && !STATEFUL.contains(&first)
}

/// Returns whether a text is allowed in every form in which the client lets it run, alone and beside the others.
fn is_closed(
    text: &str,
    decider: &Decider<'_>,
    asked: &Asked<'_>,
    allowed: &[String],
) -> Result<bool, Failure> {
    if !decider.allows(text)? {
        return Ok(false);
    }
    for form in asked.forms {
        if !decider.allows(&form.replace('@', text))? {
            return Ok(false);
        }
    }
    if !asked.joins {
        return Ok(true);
    }
    let own = [text.to_owned()];
    for other in allowed.iter().chain(&own) {
        for joined in [
            format!("{other} && {text}"),
            format!("{text} && {other}"),
            format!("{other} | {text}"),
            format!("{text} | {other}"),
        ] {
            if !decider.allows(&joined)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
