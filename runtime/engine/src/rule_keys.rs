//! The keys of rules: texts that occur in every request that a rule means.
//!
//! The compiler lists each rule under its keys; a decision reads the rules of the keys in its
//! request. So both ask this module.

use std::collections::BTreeSet;

use relay_bundle::{Bundle, Corrupt, Rule, RuleKind, Selector, Subject};
use relay_policy::classify::ADJUST_KEY;
use relay_policy::effect::{Effect, Effects, What};
use relay_policy::facts::Facts;
use relay_policy::rule::searched;
use relay_policy::tier::Floor;

/// Rules over programs of a name, which follows.
const PROGRAM: &str = "program ";
/// Rules over tools by a pattern, which has this beginning up to a `/`.
const TOOLS: &str = "tools ";
/// Rules over programs by a pattern.
const ANY_PROGRAM: &str = "programs";
/// Rules over tools of a name, which follows.
const TOOL: &str = "tool ";
/// Rules over texts in which a regex is found; the number of its automaton follows.
const REGEX: &str = "regex ";
/// Rules over effects of a kind, which follows.
const EFFECT: &str = "effect ";
/// All others.
const ALWAYS: &str = "always";

/// Returns the keys of a rule, sorted.
#[must_use]
pub fn keys(rule: &Rule, facts: &Facts<'_>) -> Vec<String> {
    if matches!(rule.kind, RuleKind::Tier | RuleKind::Lower) {
        return vec![ADJUST_KEY.to_owned()];
    }
    meant_keys(rule, facts)
}

/// Returns keys that occur in every request that a rule means, also those of one that raises or
/// lowers, sorted.
#[must_use]
pub fn meant_keys(rule: &Rule, facts: &Facts<'_>) -> Vec<String> {
    let own = || rule.conditions.iter().filter(|condition| condition.group == 0);
    let of = |selector| own().find(|condition| condition.selector == selector);
    let keys: BTreeSet<String> = if let Some(programs) = of(Selector::Program) {
        programs.values.iter().map(|program| program_key(&program.value, facts)).collect()
    } else if let Some(automaton) = of(Selector::Text).and_then(|regex| regex.automaton) {
        [format!("{REGEX}{automaton}")].into()
    } else if own().any(|condition| condition.selector.subject() == Subject::Call) {
        [ANY_PROGRAM.to_owned()].into()
    } else if let Some(tools) = of(Selector::Tool) {
        tools.values.iter().map(|tool| tool_key(&tool.value)).collect()
    } else {
        let effects = own().filter(|condition| condition.selector.subject() == Subject::Effect);
        // All conditions of a rule that restricts hold together, so any one of them is in the request;
        // a rule that permits covers what one of them names.
        let most = if rule.kind == RuleKind::Allow { usize::MAX } else { 1 };
        let keys = effects.take(most).map(|it| format!("{EFFECT}{}", it.selector.word()));
        Some(keys.collect::<BTreeSet<_>>())
            .filter(|keys| !keys.is_empty())
            .unwrap_or_else(|| [ALWAYS.to_owned()].into())
    };
    keys.into_iter().collect()
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

/// Returns the first name of a program that facts describe; of others, the name itself.
fn known_name<'n>(name: &'n str, facts: &Facts<'_>) -> std::borrow::Cow<'n, str> {
    match facts.program(name.as_bytes()) {
        Some(node) => facts.command_name(node).into(),
        None => name.into(),
    }
}

fn file(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// The parts of a request that have keys.
#[derive(Clone, Copy)]
pub(crate) struct Keyed<'k> {
    pub(crate) bundle: &'k Bundle,
    pub(crate) facts: &'k Facts<'k>,
    pub(crate) tool: &'k str,
    /// The text for a shell; empty for other tools.
    pub(crate) text: &'k str,
    pub(crate) effects: &'k Effects,
}

/// Whether the keys of a request say which rules it concerns.
#[derive(PartialEq, Eq)]
enum Concerns {
    /// Those of its keys.
    Some,
    /// Any rule, since a program is not known.
    Any,
}

impl Keyed<'_> {
    /// Returns the numbers of the rules that the request may concern, rising.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub(crate) fn candidates(self) -> Result<Vec<u32>, Corrupt> {
        let index = self.bundle.rule_index();
        let mut found = Vec::new();
        let concerns = self.each_key(|kind, rest| {
            found.extend(index.of(kind, rest)?.iter());
            Ok(())
        })?;
        if concerns == Concerns::Any {
            let all = 0..self.bundle.rule_count();
            return Ok(all.filter_map(|number| number.try_into().ok()).collect());
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Returns the keys of the rules that the request may concern; `None` if it may concern any
    /// rule.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub(crate) fn keys(self) -> Result<Option<BTreeSet<String>>, Corrupt> {
        let mut keys = BTreeSet::new();
        let concerns = self.each_key(|kind, rest| {
            keys.insert(format!("{kind}{rest}"));
            Ok(())
        })?;
        Ok((concerns == Concerns::Some).then_some(keys))
    }

    /// Visits the keys of the request: each its kind, and the name that follows.
    fn each_key(
        self,
        mut visit: impl FnMut(&str, &str) -> Result<(), Corrupt>,
    ) -> Result<Concerns, Corrupt> {
        let Self { bundle, facts, tool, text, effects } = self;
        let is_unparsed = |effect: &Effect| matches!(effect.what, What::Doubt(Floor::Unparsed, _));
        if effects.calls().iter().any(|call| !effects.is_exact(call.program))
            || effects.all().iter().any(is_unparsed)
        {
            return Ok(Concerns::Any);
        }
        visit(ALWAYS, "")?;
        visit(TOOL, tool)?;
        visit(TOOLS, "")?;
        for (end, _) in tool.match_indices('/') {
            visit(TOOLS, tool.get(..=end).unwrap_or_default())?;
        }
        for automaton in bundle.automata_in_place()?.matching(&searched(tool, text)) {
            visit(REGEX, &automaton.to_string())?;
        }
        if !effects.calls().is_empty() {
            visit(ANY_PROGRAM, "")?;
        }
        let mut last = String::new();
        for program in effects.programs() {
            if *program == *last {
                continue;
            }
            visit(PROGRAM, &known_name(&program, facts))?;
            if program.contains('/') {
                visit(PROGRAM, &known_name(file(&program), facts))?;
            }
            last = program.into_owned();
        }
        let has_unknown = effects.calls().iter().any(|call| call.node.is_none());
        for selector in Selector::ALL.iter().filter(|it| it.subject() == Subject::Effect) {
            let is_about = |effect: &Effect| match effect.what {
                // What reads a path and acts may do anything to it.
                What::Path { .. } => selector.is_of_paths(),
                // A program at a path that no fact describes is code that the text does not show.
                What::Doubt(Floor::UnknownProgram, _) => *selector == Selector::Runs,
                _ => effect.name() == selector.word(),
            };
            let may_be_unknown =
                selector.is_of_paths() || matches!(selector, Selector::Connects | Selector::Runs);
            if has_unknown && may_be_unknown || effects.all().iter().any(is_about) {
                visit(EFFECT, selector.word())?;
            }
        }
        Ok(Concerns::Some)
    }
}
