//! The words of keys, which rules and requests share.

use std::borrow::Cow;

use relay_bundle::RuleKind;
use relay_policy::facts::Facts;

/// Rules over programs of a name, which follows.
pub(super) const PROGRAM: &str = "program ";
/// Rules over tools by a pattern, which has this beginning up to a `/`.
pub(super) const TOOLS: &str = "tools ";
/// Rules over programs by a pattern.
pub(super) const ANY_PROGRAM: &str = "programs";
/// Rules over tools of a name, which follows.
pub(super) const TOOL: &str = "tool ";
/// Rules over texts in which a regex is found; the number of its automaton follows.
pub(super) const REGEX: &str = "regex ";
/// Rules over effects of a kind, which follows.
pub(super) const EFFECT: &str = "effect ";
/// All others.
pub(super) const ALWAYS: &str = "always";
/// Rules that a request may concern of which a part may be anything; their kind follows.
pub(super) const ANYTHING: &str = "anything ";
/// After a base: its plain rules.
pub(super) const PLAIN: &str = " -";
/// Between a selector and a literal: the literal itself.
pub(super) const IS: &str = " = ";
/// Between a selector and a folder: a literal path below it.
pub(super) const BELOW: &str = " / ";
/// Between a selector and a text: a literal end.
pub(super) const ENDS: &str = " * ";

/// Returns the key of the rules of a kind that are only observed, or are not.
pub(super) fn anything(kind: RuleKind, observed: bool) -> String {
    [ANYTHING, kind.word(), if observed { " observed" } else { "" }].concat()
}

/// Returns the first name of a program that facts describe; of others, the name itself.
pub(super) fn known_name<'n>(name: &'n str, facts: &Facts<'_>) -> Cow<'n, str> {
    facts.first_name(name).unwrap_or(name.into())
}

/// Returns the name of a program without its folders.
pub(super) fn file(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
