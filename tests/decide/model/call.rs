//! Conditions on one call.

use relay_policy::effect::{Argument, ArgumentKind, Call};
use relay_policy::facts::Node;

use super::meant::Meant::{Maybe, No, Surely};
use super::meant::{Meant, all, any, surely, word};
use super::{Asked, Line, of_values};

impl<'a> Asked<'a> {
    pub(super) fn of_call(&self, line: &Line, call: &Call, is_permit: bool) -> Meant {
        let words: Vec<&Argument> = self.effects.arguments(call).iter().collect();
        let operands: Vec<&Argument> = words
            .iter()
            .copied()
            .filter(|word| matches!(word.kind, ArgumentKind::Operand(_)))
            .collect();
        match line.selector {
            "program" => of_values(line, |name| self.program(call, name)),
            "sub" => of_values(line, |wanted| self.sub(call, wanted, &operands)),
            "flags" => {
                let meant = of_values(line, |flag| self.flag(call, flag, &words));
                match is_permit && !self.gives_only_these(call, line, &words) {
                    true => meant.min(Maybe),
                    false => meant,
                }
            }
            _ => {
                if operands.is_empty() {
                    // The words of a call that is not understood are not known.
                    let is_lost = call.node.is_some() && call.has_doubt && !is_permit;
                    return if is_lost { Maybe } else { No };
                }
                let each = operands.iter().map(|operand| {
                    let Some(value) = operand.value else { return Maybe };
                    let (value, is_exact) = self.value(value);
                    let meant = of_values(line, |pattern| word(pattern, &value, is_exact));
                    // It may be no word at all, or several.
                    if operand.is_many { Maybe } else { meant }
                });
                if is_permit { all(each) } else { any(each) }
            }
        }
    }

    pub(super) fn program(&self, call: &Call, name: &str) -> Meant {
        let (written, is_exact) = self.value(call.program);
        if !is_exact {
            return Maybe;
        }
        let folders =
            ["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/"];
        let called =
            folders.iter().find_map(|folder| written.strip_prefix(folder)).unwrap_or(&written);
        if name.contains('*') {
            return word(name, called, true);
        }
        let is_alias = call.node.is_some_and(|node| {
            let command = self.facts.command_name(node);
            let program = command.split(' ').next().unwrap_or_default();
            let known = self.known.programs.iter().find(|it| it.names.iter().any(|it| it == name));
            known.is_some_and(|known| known.names.iter().any(|it| it == program))
        });
        let file = |path: &str| path.rsplit('/').next().map(str::to_owned);
        if called == name || written == name {
            Surely
        } else if is_alias || file(called) == file(name) {
            // It may be the same file, or a program that is only alike.
            Maybe
        } else {
            No
        }
    }

    pub(super) fn sub(&self, call: &Call, wanted: &str, operands: &[&Argument]) -> Meant {
        let wanted: Vec<&str> = wanted.split(' ').collect();
        let written: Vec<String> = self.effects.subs(call).map(|sub| sub.into_owned()).collect();
        if written.len() >= wanted.len() && wanted.iter().zip(&written).all(|(a, b)| a == b) {
            return Surely;
        }
        // One fact may describe several names, and several sub-commands that are alike.
        let described = self.described(call);
        let named = described.first().and_then(|program| {
            let sub = |node: &'a Node, word: &&str| -> Option<&'a Node> {
                node.subs.iter().find(|sub| sub.names.iter().any(|it| it == word))
            };
            wanted.iter().try_fold(*program, sub)
        });
        let is_it = |node: &&Node| named.is_some_and(|named| std::ptr::eq(named, *node));
        if described.iter().skip(1).any(is_it) {
            return Maybe;
        }
        // Nothing says which of these words are operands. One that is not known may be several.
        let given = operands.iter().map(|operand| operand.value.map(|value| self.value(value)));
        let given = written.iter().map(|sub| Some((sub.clone(), true))).chain(given);
        let given: Vec<_> = given.collect();
        let is_known = given.iter().take(wanted.len()).flatten().all(|(_, is_exact)| *is_exact);
        if call.node.is_some() && !call.has_doubt && is_known {
            return No;
        }
        let reached = operands.iter().take(wanted.len().saturating_sub(written.len()));
        let may_follow = call.has_doubt || reached.into_iter().any(|operand| operand.is_many);
        let each = wanted.iter().enumerate().map(|(number, wanted)| match given.get(number) {
            Some(Some((value, is_exact))) => word(wanted, value, *is_exact),
            _ if may_follow => Maybe,
            _ => No,
        });
        let meant = all(each.collect::<Vec<_>>());
        if call.node.is_some() { meant.min(Maybe) } else { meant }
    }

    pub(super) fn flag(&self, call: &Call, flag: &str, words: &[&Argument]) -> Meant {
        let (name, wanted) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (flag, None),
        };
        let each = words.iter().map(|argument| match argument.kind {
            ArgumentKind::Option(given) => {
                let given = self.facts.option_name(given);
                let named = self.option(call, &given, name);
                match (wanted, argument.value) {
                    (None, _) => named,
                    (Some(_), None) => No,
                    (Some(wanted), Some(value)) => {
                        let (value, is_exact) = self.value(value);
                        named.min(word(wanted, &value, is_exact))
                    }
                }
            }
            ArgumentKind::Help => surely(name == "--help" || name == "--version"),
            ArgumentKind::Operand(_) if call.node.is_none() => {
                let Some(value) = argument.value else { return Maybe };
                let (value, is_exact) = self.value(value);
                match wanted {
                    Some(_) => word(flag, &value, is_exact),
                    None => word(name, &value, is_exact).max(word(
                        &format!("{name}=*"),
                        &value,
                        is_exact,
                    )),
                }
            }
            // A word that is not known may be an option, unless a `--` comes before it.
            ArgumentKind::Operand(_) if !argument.is_after_dashes => {
                let Some(value) = argument.value else { return No };
                let (value, is_exact) = self.value(value);
                if is_exact || !value.starts_with(['…', '*', '?']) {
                    return No;
                }
                let with_value = word(&format!("{name}=*"), &value, false);
                word(name, &value, false).max(with_value).min(Maybe)
            }
            _ => No,
        });
        match any(each) {
            No if call.has_doubt && call.node.is_some() => Maybe,
            meant => meant,
        }
    }

    /// Returns whether each option that a line gives a value has such a value wherever it is given.
    fn gives_only_these(&self, call: &Call, line: &Line, words: &[&Argument]) -> bool {
        words.iter().all(|argument| {
            let ArgumentKind::Option(given) = argument.kind else { return true };
            let given = self.facts.option_name(given);
            let wanted: Vec<&str> = line
                .values
                .iter()
                .filter_map(|flag| flag.split_once('='))
                .filter(|(name, _)| self.option(call, &given, name) != No)
                .map(|(_, value)| value)
                .collect();
            let value = argument.value.map(|value| self.value(value));
            let (value, is_exact) = value.unwrap_or((String::new(), true));
            wanted.is_empty() || wanted.iter().any(|it| word(it, &value, is_exact) == Surely)
        })
    }

    /// Returns the facts of the program of a call and of its sub-commands.
    pub(super) fn described(&self, call: &Call) -> Vec<&'a Node> {
        let Some(node) = call.node else { return Vec::new() };
        let command = self.facts.command_name(node);
        let mut nodes: Vec<&'a Node> = Vec::new();
        let mut next: &'a [Node] = &self.known.programs;
        for word in command.split(' ') {
            let found = next.iter().find(|it| it.names.iter().any(|it| it == word));
            let Some(found) = found else { break };
            nodes.push(found);
            next = &found.subs;
        }
        nodes
    }

    /// Returns whether two names are of one option of a call.
    pub(super) fn option(&self, call: &Call, given: &str, name: &str) -> Meant {
        if given == name {
            return Surely;
        }
        let described = self.described(call);
        let has_both = |names: &&Vec<String>| {
            names.iter().any(|it| it == given) && names.iter().any(|it| it == name)
        };
        let own = described.last().into_iter().flat_map(|node| &node.flags);
        let around = described.iter().rev().skip(1).flat_map(|node| &node.flags);
        let mut rows = own.chain(around.filter(|flag| flag.everywhere)).map(|flag| &flag.names);
        let is_letter = |name: &str| name.len() == 2;
        match rows.find(has_both) {
            // A letter and a word are of one option; more names may be options that are alike.
            Some(names) if names.len() == 2 && is_letter(given) != is_letter(name) => Surely,
            Some(_) => Maybe,
            None => No,
        }
    }
}
