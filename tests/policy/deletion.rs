//! Deleting any fact leaves a command of tier 2 or more at 2 or more: anything unknown is a doubt.
//!
//! A fact is a program, a sub-command, an option, an operand, a value, a form and each of its
//! conditions, a name of any of them, a word of a language and a harmless variable. For each command of the open
//! corpus a table is made of the facts that it can touch, and from that one fact after the other is left
//! out.

use std::borrow::Cow;
use std::collections::BTreeSet;

use relay_policy::classify::{Rules, classify};
use relay_policy::facts::{
    Facts, Flag, Form, Knowledge, LanguageWords, Node, Operand, Value, encode,
};

use super::corpus::open_rows;
use super::{FACTS, verdict};

/// How a table says what the command may do.
fn tier_by(knowledge: &Knowledge, command: &str) -> u8 {
    let table = encode(knowledge).expect("a table");
    let facts = Facts::open(&table).expect("the table opens");
    classify(command, &facts, &Rules::default()).tier.number()
}

/// Returns the facts that a command can touch: its programs, with the sub-commands and options that its
/// text may name.
fn touched(command: &str, all: &Knowledge) -> Knowledge {
    let verdict = verdict(command);
    let names: BTreeSet<String> = verdict.effects.programs().map(Cow::into_owned).collect();
    let is_used = |node: &&Node| node.names.iter().any(|name| names.contains(name.as_str()));
    let programs = all.programs.iter().filter(is_used).cloned();
    let programs: Vec<_> = programs.map(|node| pruned(node, command)).collect();
    // The languages of their code, wherever a fact names one.
    let named = format!("{programs:?}");
    let words = all.words.iter().filter(|row| named.contains(&format!("{:?}", row.language)));
    let words = words.map(|row| LanguageWords {
        words: row.words.iter().filter(|word| command.contains(word.as_str())).cloned().collect(),
        ..row.clone()
    });
    let variables = all.environment.iter().filter(|name| command.contains(name.trim_matches('*')));
    Knowledge {
        programs,
        environment: variables.cloned().collect(),
        words: words.filter(|row| !row.words.is_empty()).collect(),
        files: all.files.clone(),
    }
}

fn pruned(mut node: Node, command: &str) -> Node {
    let lower = command.to_lowercase();
    node.subs.retain(|sub| {
        sub.names.iter().any(|name| lower.contains(&name.trim_matches('*').to_lowercase()))
    });
    node.subs = node.subs.into_iter().map(|sub| pruned(sub, command)).collect();
    // An option may be shortened, and letters may be joined.
    node.flags.retain(|flag| {
        flag.names.iter().any(|name| {
            let name = name.trim_matches('*');
            let start: String = name.trim_start_matches(['-', '+']).chars().take(2).collect();
            start.is_empty() || command.contains(&start) || name.len() <= 2
        })
    });
    node
}

/// Calls `each` with every way to leave one thing out of a list.
fn without_one<T: Clone>(list: &[T], mut each: impl FnMut(&T, Vec<T>)) {
    for (at, item) in list.iter().enumerate() {
        let mut rest = list.to_vec();
        rest.remove(at);
        each(item, rest);
    }
}

/// Returns a node after each deletion of one of its facts, with the name of that fact.
fn node_deletions(node: &Node) -> Vec<(String, Node)> {
    let mut left = Vec::new();
    let program = node.names.first().cloned().unwrap_or_default();
    let mut add = |what: String, node: Node| left.push((format!("{program}: {what}"), node));
    if node.names.len() > 1 {
        without_one(&node.names, |name, names| {
            add(format!("name {name}"), Node { names, ..node.clone() })
        });
    }
    without_one(&node.flags, |flag, flags| {
        add(format!("option {:?}", flag.names), Node { flags, ..node.clone() });
    });
    for (at, flag) in node.flags.iter().enumerate() {
        for (what, flag) in flag_deletions(flag) {
            let mut changed = node.clone();
            changed.flags[at] = flag;
            add(what, changed);
        }
    }
    for (what, operands) in operand_deletions(&node.operands) {
        add(what, Node { operands, ..node.clone() });
    }
    without_one(&node.forms, |form, forms| {
        add(format!("form of line {}", form.place.line), Node { forms, ..node.clone() });
    });
    for (at, form) in node.forms.iter().enumerate() {
        for (what, form) in form_deletions(form) {
            let mut changed = node.clone();
            changed.forms[at] = form;
            add(what, changed);
        }
    }
    without_one(&node.subs, |sub, subs| {
        add(format!("sub-command {:?}", sub.names), Node { subs, ..node.clone() });
    });
    for (at, sub) in node.subs.iter().enumerate() {
        for (what, sub) in node_deletions(sub) {
            let mut changed = node.clone();
            changed.subs[at] = sub;
            add(what, changed);
        }
    }
    left
}

fn flag_deletions(flag: &Flag) -> Vec<(String, Flag)> {
    let mut left = Vec::new();
    if flag.names.len() > 1 {
        without_one(&flag.names, |name, names| {
            left.push((format!("option {name}"), Flag { names, ..flag.clone() }));
        });
    }
    for (what, values) in value_deletions(&flag.values) {
        left.push((format!("option {:?}, {what}", flag.names), Flag { values, ..flag.clone() }));
    }
    left
}

fn value_deletions(values: &[Value]) -> Vec<(String, Vec<Value>)> {
    let mut left = Vec::new();
    without_one(values, |value, values| left.push((format!("value {}", value.pattern), values)));
    left
}

fn operand_deletions(operands: &[Operand]) -> Vec<(String, Vec<Operand>)> {
    let mut left = Vec::new();
    without_one(operands, |operand, operands| {
        left.push((format!("{} {}", operand.position.word(), operand.role.word()), operands));
    });
    for (at, operand) in operands.iter().enumerate() {
        for (what, values) in value_deletions(&operand.values) {
            let mut operands = operands.to_vec();
            operands[at] = Operand { values, ..operand.clone() };
            left.push((format!("operand, {what}"), operands));
        }
    }
    left
}

fn form_deletions(form: &Form) -> Vec<(String, Form)> {
    let mut left = Vec::new();
    let line = form.place.line;
    // If all names were gone, the condition would be gone too, and conditions are part of their
    // form.
    let has = if form.has.len() > 1 { form.has.as_slice() } else { &[] };
    without_one(has, |name, has| {
        left.push((format!("form of line {line}: has {name}"), Form { has, ..form.clone() }));
    });
    without_one(&form.without, |name, without| {
        left.push((
            format!("form of line {line}: without {name}"),
            Form { without, ..form.clone() },
        ));
    });
    without_one(&form.matching, |name, matching| {
        left.push((
            format!("form of line {line}: matching {name}"),
            Form { matching, ..form.clone() },
        ));
    });
    without_one(&form.roles, |(name, _), roles| {
        left.push((format!("form of line {line}: role {name}"), Form { roles, ..form.clone() }));
    });
    for (what, operands) in operand_deletions(&form.operands) {
        left.push((format!("form of line {line}: {what}"), Form { operands, ..form.clone() }));
    }
    left
}

/// Returns knowledge after each deletion of one of its facts.
fn deletions(known: &Knowledge) -> Vec<(String, Knowledge)> {
    let mut left = Vec::new();
    without_one(&known.programs, |program, programs| {
        left.push((
            format!("program {:?}", program.names),
            Knowledge { programs, ..known.clone() },
        ));
    });
    for (at, program) in known.programs.iter().enumerate() {
        for (what, program) in node_deletions(program) {
            let mut changed = known.clone();
            changed.programs[at] = program;
            left.push((what, changed));
        }
    }
    without_one(&known.environment, |name, environment| {
        left.push((format!("variable {name}"), Knowledge { environment, ..known.clone() }));
    });
    for (at, row) in known.words.iter().enumerate() {
        without_one(&row.words, |word, words| {
            let mut changed = known.clone();
            changed.words[at].words = words;
            left.push((format!("word {word} of {}", row.language.word()), changed));
        });
    }
    left
}

#[test]
fn no_lost_fact_takes_a_command_below_two() {
    let all = FACTS.knowledge();
    let mut count = 0;
    let mut wrong = BTreeSet::new();
    let commands = open_rows().into_iter().map(|row| row.command);
    for command in commands.filter(|command| verdict(command).tier.number() >= 2) {
        let known = touched(&command, &all);
        let tier = tier_by(&known, &command);
        if tier < 2 {
            wrong.insert(format!("{tier} without what it does not touch: {command}"));
            continue;
        }
        for (what, left) in deletions(&known) {
            count += 1;
            let tier = tier_by(&left, &command);
            if tier < 2 {
                wrong.insert(format!("{tier} without {what}: {command}"));
            }
        }
    }
    assert!(count > 10_000, "{count} facts were left out");
    let list: Vec<_> = wrong.iter().map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), list.join("\n"));
}
