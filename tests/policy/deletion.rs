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
    Facts, Flag, Form, Knowledge, LanguageWords, Node, Operand, Place, Value, encode,
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
    let programs: Vec<_> = programs.map(|node| pruned(node, command).in_file(0)).collect();
    // The languages of their code, wherever a fact names one.
    let named = format!("{programs:?}");
    let words = all.words.iter().filter(|row| named.contains(&format!("{:?}", row.language)));
    let words = words.map(|row| LanguageWords {
        words: row.words.iter().filter(|word| command.contains(word.as_str())).cloned().collect(),
        place: Place { file: 0, ..row.place },
        ..row.clone()
    });
    let variables = all.environment.iter().filter(|name| command.contains(name.trim_matches('*')));
    Knowledge {
        programs,
        environment: variables.cloned().collect(),
        words: words.filter(|row| !row.words.is_empty()).collect(),
        files: vec![String::new()],
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
            let is_joined = name.len() <= 2 && start.chars().skip(1).all(|it| command.contains(it));
            start.is_empty() || command.contains(&start) || is_joined
        })
    });
    node
}

/// What is asked of the facts that are left, with the name of the one that is not.
type Ask<'a> = dyn FnMut(&Knowledge, &dyn Fn() -> String) + 'a;

/// Where some part of the facts is.
type Part<'a, T> = &'a dyn Fn(&mut Knowledge) -> &mut T;

/// Facts that one after the other is left out of, and put back.
struct Deletions<'a> {
    known: &'a mut Knowledge,
    ask: &'a mut Ask<'a>,
}

impl Deletions<'_> {
    /// Asks of the facts without any one item of a list.
    fn each<T>(&mut self, list: Part<Vec<T>>, name: impl Fn(&T) -> String) {
        for at in 0..list(self.known).len() {
            let item = list(self.known).remove(at);
            (self.ask)(self.known, &|| name(&item));
            list(self.known).insert(at, item);
        }
    }

    /// The same for a list that cannot be empty.
    fn each_but_the_last<T>(&mut self, list: Part<Vec<T>>, name: impl Fn(&T) -> String) {
        if list(self.known).len() > 1 {
            self.each(list, name);
        }
    }

    fn all(&mut self) {
        self.each(&|known| &mut known.programs, |program| format!("program {:?}", program.names));
        for at in 0..self.known.programs.len() {
            self.node(&|known| &mut known.programs[at]);
        }
        self.each(&|known| &mut known.environment, |name| format!("variable {name}"));
        for at in 0..self.known.words.len() {
            let language = self.known.words[at].language.word();
            self.each(&|known| &mut known.words[at].words, |word| {
                format!("word {word} of {language}")
            });
        }
    }

    fn node(&mut self, node: Part<Node>) {
        let of = node(self.known).names.first().cloned().unwrap_or_default();
        self.each_but_the_last(&|known| &mut node(known).names, |name| {
            format!("{of}: name {name}")
        });
        self.each(&|known| &mut node(known).flags, |flag| format!("{of}: option {:?}", flag.names));
        for at in 0..node(self.known).flags.len() {
            self.flag(&of, &|known| &mut node(known).flags[at]);
        }
        self.operands(&of, &|known| &mut node(known).operands);
        self.each(&|known| &mut node(known).forms, |form| {
            format!("{of}: form of line {}", form.place.line)
        });
        for at in 0..node(self.known).forms.len() {
            self.form(&of, &|known| &mut node(known).forms[at]);
        }
        self.each(&|known| &mut node(known).subs, |sub| {
            format!("{of}: sub-command {:?}", sub.names)
        });
        for at in 0..node(self.known).subs.len() {
            self.node(&|known| &mut node(known).subs[at]);
        }
    }

    fn flag(&mut self, of: &str, flag: Part<Flag>) {
        self.each_but_the_last(&|known| &mut flag(known).names, |name| {
            format!("{of}: option {name}")
        });
        let names = flag(self.known).names.clone();
        self.values(&format!("{of}: option {names:?}"), &|known| &mut flag(known).values);
    }

    fn values(&mut self, of: &str, values: Part<Vec<Value>>) {
        self.each(values, |value| format!("{of}, value {}", value.pattern));
    }

    fn operands(&mut self, of: &str, operands: Part<Vec<Operand>>) {
        self.each(operands, |operand| {
            format!("{of}: {} {}", operand.position.word(), operand.role.word())
        });
        for at in 0..operands(self.known).len() {
            self.values(&format!("{of}: operand"), &|known| &mut operands(known)[at].values);
        }
    }

    fn form(&mut self, of: &str, form: Part<Form>) {
        let of = &format!("{of}: form of line {}", form(self.known).place.line);
        // If all names were gone, the condition would be gone too, and conditions are part of their
        // form.
        self.each_but_the_last(&|known| &mut form(known).has, |name| format!("{of}: has {name}"));
        self.each(&|known| &mut form(known).without, |name| format!("{of}: without {name}"));
        self.each(&|known| &mut form(known).matching, |name| format!("{of}: matching {name}"));
        self.each(&|known| &mut form(known).roles, |(name, _)| format!("{of}: role {name}"));
        self.operands(of, &|known| &mut form(known).operands);
    }
}

#[test]
fn no_lost_fact_takes_a_command_below_two() {
    let all = FACTS.knowledge();
    let mut count = 0;
    let mut wrong = BTreeSet::new();
    let commands = open_rows().into_iter().map(|row| row.command);
    for command in commands.filter(|command| verdict(command).tier.number() >= 2) {
        let mut known = touched(&command, &all);
        let tier = tier_by(&known, &command);
        if tier < 2 {
            wrong.insert(format!("{tier} without what it does not touch: {command}"));
            continue;
        }
        let mut ask = |left: &Knowledge, deleted: &dyn Fn() -> String| {
            count += 1;
            let tier = tier_by(left, &command);
            if tier < 2 {
                wrong.insert(format!("{tier} without {}: {command}", deleted()));
            }
        };
        Deletions { known: &mut known, ask: &mut ask }.all();
    }
    assert!(count > 10_000, "{count} facts were left out");
    let list: Vec<_> = wrong.iter().map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), list.join("\n"));
}
