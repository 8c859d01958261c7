//! Conditions on one call of a program.

use relay_bundle::Selector;

use super::condition::Condition;
use super::fit::Fit;
use super::glob::value_fit;
use super::request::Request;
use super::words::words_fit;
use crate::effect::{Argument, ArgumentKind, Call, Effects, Value};
use crate::facts::{Facts, Kinship, NameId, NodeId, program_name};
use crate::value::{is_exact, is_mark, is_root};

/// A call, with the list it belongs to and the facts it refers to.
#[derive(Clone, Copy)]
pub(super) struct Called<'c> {
    pub(super) call: &'c Call,
    pub(super) effects: &'c Effects,
    pub(super) facts: &'c Facts<'c>,
    /// The text for a shell; empty for other tools.
    pub(super) text: &'c str,
}

impl<'c> Called<'c> {
    pub(super) fn of(request: &Request<'c>, call: &'c Call) -> Self {
        let Request { effects, facts, text, .. } = *request;
        Self { call, effects, facts, text }
    }

    /// Returns whether a condition holds for the call; all operands count if the rule permits, any
    /// operand if it restricts.
    pub(super) fn fit(self, condition: &Condition<'_>, is_permit: bool) -> Fit {
        match condition.selector {
            Selector::Program => condition.any(|name| self.program(name)),
            Selector::Sub => condition.any(|words| self.sub(words)),
            Selector::Flags if is_permit => {
                let given = condition.any(|flag| self.flag(flag));
                given.min(self.only_these_values(condition))
            }
            Selector::Flags => condition.any(|flag| self.flag(flag)),
            Selector::Operands => self.operands(condition, is_permit),
            Selector::Words => {
                condition.any(|pattern| words_fit(pattern, self.effects, self.call, self.text))
            }
            // INVARIANT: the others are about effects and requests.
            _ => Fit::No,
        }
    }

    fn arguments(self) -> &'c [Argument] {
        self.effects.arguments(self.call)
    }

    /// Returns whether the call is of a program, by any of its names.
    fn program(self, name: &str) -> Fit {
        let written = self.effects.bytes_of(self.call.program);
        if !is_exact(written) {
            return Fit::Maybe;
        }
        let called = program_name(written);
        if name.contains('*') {
            return value_fit(name, called);
        }
        if called == name.as_bytes() || written == name.as_bytes() {
            return Fit::Surely;
        }
        // A fact may describe several programs that are alike, and several names of one program.
        let known = self.call.node.map(|node| self.facts.root(node));
        if known.is_some() && known == self.facts.program(name.as_bytes()) {
            return Fit::Maybe;
        }
        // The same file may be called by a path, or by its name through the search path.
        let last = |path: &'_ [u8]| path.rsplit(|byte| *byte == b'/').next() == Some(file(name));
        Fit::known(last(called)).doubted()
    }

    /// Returns whether the call is of a sub-command, whose words are joined by blanks.
    fn sub(self, words: &str) -> Fit {
        let wanted: Vec<&str> = words.split(' ').collect();
        let starts = |given: &[String]| {
            given.len() >= wanted.len() && given.iter().zip(&wanted).all(|(a, b)| a == b)
        };
        let written: Vec<String> = self.subs().map(|word| word.into_owned()).collect();
        if starts(&written) {
            return Fit::Surely;
        }
        if self.is_alike(&wanted) {
            return Fit::Maybe;
        }
        // An unknown program or sub-command has its words among the operands.
        let operands: Vec<&Argument> = self.operand_words().collect();
        let mut fit = Fit::Surely;
        let (mut is_open, mut is_spread) = (false, false);
        for (number, word) in wanted.iter().enumerate() {
            let operand = number.checked_sub(written.len()).and_then(|number| operands.get(number));
            let given = written.get(number).map(String::as_bytes);
            let given = given.or_else(|| Some(self.effects.bytes_of(operand?.value?)));
            is_open |= given.is_some_and(|given| !is_exact(given));
            is_spread |= operand.is_some_and(|operand| operand.is_many);
            // One word that is not known may be several.
            let missing = Fit::known(is_spread || self.call.has_doubt).doubted();
            fit = fit.min(given.map_or(missing, |given| value_fit(word, given)));
        }
        match self.call.node {
            None => fit,
            Some(_) if self.call.has_doubt || is_open => fit.doubted(),
            Some(_) => Fit::No,
        }
    }

    fn subs(self) -> impl Iterator<Item = std::borrow::Cow<'c, str>> {
        self.effects.subs(self.call)
    }

    /// Returns whether one fact describes a sub-command of the call and the one that these words name: they may be two names of
    /// it, or two that are alike.
    fn is_alike(self, words: &[&str]) -> bool {
        let Some(node) = self.call.node else { return false };
        let Some(wanted) = self.facts.sub_command(self.facts.root(node), words) else {
            return false;
        };
        let around = |node: &NodeId| self.facts.parent(*node);
        std::iter::successors(Some(node), around).any(|node| node == wanted)
    }

    /// Returns whether the call has an option, in any spelling; with a value after `=`.
    fn flag(self, flag: &str) -> Fit {
        let (name, value) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (flag, None),
        };
        let fits = self.arguments().iter().map(|argument| match argument.kind {
            ArgumentKind::Option(given) => {
                let fit = self.named(given, name);
                let Some(wanted) = value.filter(|_| fit != Fit::No) else { return fit };
                let given = argument.value.map(|value| self.effects.bytes_of(value));
                fit.min(given.map_or(Fit::No, |given| value_fit(wanted, given)))
            }
            ArgumentKind::Help => Fit::known(matches!(name, "--help" | "--version")),
            // Words of an unknown program.
            ArgumentKind::Operand(_) if self.call.node.is_none() => {
                let Some(given) = argument.value else { return Fit::Maybe };
                let given = self.effects.bytes_of(given);
                let with_value = format!("{name}=*");
                match value {
                    Some(_) => value_fit(flag, given),
                    None => value_fit(name, given).max(value_fit(&with_value, given)),
                }
            }
            // A word that is not known may be an option, a file name too: `rm *` with a file `-r`.
            ArgumentKind::Operand(_) if !argument.is_after_dashes => {
                let given = argument.value.map(|given| self.effects.bytes_of(given));
                given.filter(|given| may_begin_with_dash(given)).map_or(Fit::No, |given| {
                    let with_value = format!("{name}=*");
                    value_fit(name, given).max(value_fit(&with_value, given)).doubted()
                })
            }
            ArgumentKind::Operand(_) | ArgumentKind::Sub => Fit::No,
        });
        let fit = Fit::any(fits);
        // A word that is not understood may be the option.
        if fit == Fit::No && self.call.has_doubt && self.call.node.is_some() {
            Fit::Maybe
        } else {
            fit
        }
    }

    /// Returns whether every value of an option is one that the condition gives it: of an option that
    /// is repeated, programs take the last value.
    fn only_these_values(self, condition: &Condition<'_>) -> Fit {
        Fit::all(self.arguments().iter().map(|argument| {
            let ArgumentKind::Option(given) = argument.kind else { return Fit::Surely };
            if !condition.values.has(|flag| self.value_for(given, flag).is_some()) {
                return Fit::Surely;
            }
            let value = argument.value.map_or(&b""[..], |value| self.effects.bytes_of(value));
            condition.any(|flag| {
                self.value_for(given, flag).map_or(Fit::No, |wanted| value_fit(wanted, value))
            })
        }))
    }

    /// Returns the value that `NAME=VALUE` gives an option of the call.
    fn value_for(self, given: NameId, flag: &str) -> Option<&str> {
        let (name, value) = flag.split_once('=')?;
        (self.named(given, name) != Fit::No).then_some(value)
    }

    /// Returns whether an option that was given by one of its names has another one.
    pub(super) fn named(self, given: NameId, name: &str) -> Fit {
        if self.facts.option_name(given) == name {
            return Fit::Surely;
        }
        let wanted = self.facts.name_id(name.as_bytes());
        let (Some(wanted), Some(node)) = (wanted, self.call.node) else { return Fit::No };
        match self.facts.kinship(node, given, wanted) {
            Kinship::Same => Fit::Surely,
            Kinship::Alike => Fit::Maybe,
            Kinship::Apart => Fit::No,
        }
    }

    /// Returns the options of the call that are of the row of this one, itself included.
    pub(super) fn options_like(self, name: NameId) -> impl Iterator<Item = NameId> {
        let given = self.arguments().iter().filter_map(|argument| match argument.kind {
            ArgumentKind::Option(given) => Some(given),
            _ => None,
        });
        let is_like = move |given: &NameId| {
            let node = self.call.node;
            node.is_some_and(|node| self.facts.kinship(node, name, *given) != Kinship::Apart)
        };
        given.filter(is_like).chain([name])
    }

    fn operand_words(self) -> impl Iterator<Item = &'c Argument> {
        let words = self.arguments().iter();
        words.filter(|word| matches!(word.kind, ArgumentKind::Operand(_)))
    }

    fn operands(self, condition: &Condition<'_>, is_permit: bool) -> Fit {
        let mut operands = self.operand_words().peekable();
        if operands.peek().is_none() {
            // The words of a call that is not understood are not listed.
            let is_lost = self.call.has_doubt && self.call.node.is_some() && !is_permit;
            return Fit::known(is_lost).doubted();
        }
        let fits = operands.map(|operand| {
            let Some(value) = operand.value else { return Fit::Maybe };
            let value = self.effects.bytes_of(value);
            let fit = condition.any(|pattern| value_fit(pattern, value));
            if operand.is_many { fit.doubted().max(Fit::Maybe) } else { fit }
        });
        if is_permit { Fit::all(fits) } else { Fit::any(fits) }
    }

    /// Returns whether a span of the text is in an option of the call: after its name, and in no
    /// operand.
    pub(super) fn is_in_option(self, span: crate::span::Span) -> bool {
        let holds = |word: &Argument| word.span.start <= span.start && span.end <= word.span.end;
        self.call.span.start < span.start && !self.operand_words().any(holds)
    }

    /// Returns whether a condition on words has this host before the first wildcard of a pattern.
    pub(super) fn writes_host(self, condition: &Condition<'_>, host: Value) -> bool {
        let shown = self.effects.display(host);
        let writes = |pattern: &str| {
            let literal = pattern.split(['*', '?']).next().unwrap_or(pattern);
            literal.split(['/', '@', ':', '=', ',']).any(|part| part == shown)
        };
        matches!(condition.selector, Selector::Operands | Selector::Flags)
            && self.effects.is_exact(host)
            && condition.values.has(writes)
    }

    /// Returns whether a span of the text is in a word that a condition fixes: an operand or the
    /// value of an option that equals a value of the rule.
    pub(super) fn is_fixed(self, condition: &Condition<'_>, span: crate::span::Span) -> bool {
        let is_within =
            |word: &&Argument| word.span.start <= span.start && span.end <= word.span.end;
        let mut words = self.arguments().iter().filter(is_within);
        words.any(|word| {
            let Some(value) = word.value else { return false };
            let value = self.effects.bytes_of(value);
            let is_plain = |text: &str| !text.contains(['*', '?']) && glob_is(text, value);
            match (condition.selector, word.kind) {
                (Selector::Operands, ArgumentKind::Operand(_)) => condition.values.has(is_plain),
                (Selector::Flags, ArgumentKind::Option(given)) => condition.values.has(|flag| {
                    let written = flag.split_once('=');
                    written.is_some_and(|(name, text)| {
                        self.named(given, name) == Fit::Surely && is_plain(text)
                    })
                }),
                _ => false,
            }
        })
    }
}

/// Returns whether a word that is not known may begin with a dash.
fn may_begin_with_dash(word: &[u8]) -> bool {
    word.first().is_some_and(|first| is_mark(*first) && !is_root(*first))
}

fn glob_is(text: &str, value: &[u8]) -> bool {
    value_fit(text, value) == Fit::Surely
}

fn file(name: &str) -> &[u8] {
    name.rsplit('/').next().unwrap_or(name).as_bytes()
}
