//! Random pairs of facts, floors and paths: whenever a command of the corpora is judged lower, the comparison
//! says that the change loosens.

use std::collections::BTreeSet;

use relay_bundle::{Bundle, Contents, Floor, PathKind, PathRow, Place, Policy, encode};
use relay_diff::Direction;
use relay_policy::classify::{Cause, Rules, classify};
use relay_policy::facts::{
    Arity, Facts, Flag, Form, Knowledge, Node, Operand, Output, Position, Role, Style, Value,
    encode as table,
};
use relay_policy::tier::Tier;

use super::{project, shown};
use crate::policy::corpus::all_commands;

/// Pairs that are compared.
const PAIRS: usize = 120;
/// Programs that are changed: those that most commands of the corpora run.
const PROGRAMS: usize = 60;
/// The most commands of a pair that its change is about, and commands drawn from all others.
const TOUCHED_MAX: usize = 1500;
const OTHERS: usize = 100;
/// Patterns of path rows that a pair adds.
const PATTERNS: [&str; 12] = [
    "/srv/**",
    "/opt/app/*",
    "/data/**",
    "/var/log/**",
    "/tmp/**",
    "/etc/**",
    "/backup/**",
    "./build/**",
    "./dist/*",
    "~/.cache/**",
    "~/x/**",
    "**/*.log",
];

/// Numbers that look random, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % limit.max(1)
    }

    fn is(&mut self, chance: usize) -> bool {
        self.below(chance) == 0
    }

    fn pick<'l, T>(&mut self, list: &'l [T]) -> Option<&'l T> {
        list.get(self.below(list.len()))
    }

    fn at<'l, T>(&mut self, list: &'l mut [T]) -> Option<&'l mut T> {
        let at = self.below(list.len());
        list.get_mut(at)
    }

    fn drop_from<T>(&mut self, list: &mut Vec<T>) {
        if !list.is_empty() {
            let at = self.below(list.len());
            list.remove(at);
        }
    }

    fn swap<T>(&mut self, list: &mut [T]) {
        if list.len() > 1 {
            let at = self.below(list.len() - 1);
            list.swap(at, at + 1);
        }
    }

    /// Returns at most so many members of a list, all different.
    fn sample<'l, T>(&mut self, mut list: Vec<&'l T>, most: usize) -> Vec<&'l T> {
        for at in 0..most.min(list.len()) {
            let other = at + self.below(list.len() - at);
            list.swap(at, other);
        }
        list.truncate(most);
        list
    }

    fn tier(&mut self) -> Tier {
        Tier::ALL[self.below(4)]
    }
}

/// Changes one fact of a program or of a sub-command.
fn change(node: &mut Node, random: &mut Numbers) {
    if !node.subs.is_empty()
        && !random.is(3)
        && let Some(sub) = random.at(&mut node.subs)
    {
        return change(sub, random);
    }
    match random.below(16) {
        0 => node.tier = Some(random.tier()),
        1 => {
            random.drop_from(&mut node.flags);
        }
        2..=4 => {
            if let Some(flag) = random.at(&mut node.flags) {
                change_flag(flag, random);
            }
        }
        5 => random.drop_from(&mut node.forms),
        6 => random.swap(&mut node.forms),
        7 | 8 => {
            let names: Vec<String> =
                node.flags.iter().flat_map(|flag| flag.names.clone()).collect();
            if let Some(form) = random.at(&mut node.forms) {
                change_form(form, &names, random);
            } else {
                let has = random.pick(&names).cloned().into_iter().collect();
                let tier = random.tier();
                node.forms.push(form(tier, has));
            }
        }
        9 => random.drop_from(&mut node.subs),
        10 => random.drop_from(&mut node.operands),
        11 | 12 => {
            if let Some(operand) = random.at(&mut node.operands) {
                change_operand(operand, random);
            }
        }
        13 => node.output = Output::ALL[random.below(Output::ALL.len())],
        14 => match random.below(10) {
            0 => node.style = Style::ALL[random.below(Style::ALL.len())],
            1 => node.stop = u8::from(node.stop == 0),
            2 => node.numbers = !node.numbers,
            3 => node.sends = !node.sends,
            4 => node.writes = if node.writes.is_empty() { "/etc/x".into() } else { String::new() },
            5 => node.stdin = Role::Text,
            6 => node.ignore_case = !node.ignore_case,
            7 => node.listens = !node.listens,
            8 => node.user = if node.user.is_empty() { "root".into() } else { String::new() },
            _ => node.tier = None,
        },
        _ => {
            let tier = random.tier();
            node.flags.push(Flag {
                names: vec![
                    ["--new-option", "-z", "--all", "--force", "-x"][random.below(5)].into(),
                ],
                tier,
                cap: random.is(3).then(|| random.tier()),
                arity: if random.is(2) { Arity::None } else { Arity::Required },
                role: Role::Text,
                says: String::new(),
                everywhere: random.is(2),
                values: Vec::new(),
                place: node.place,
            });
            // A name that is there already stays with its row.
            let last = node.flags.pop().expect("the new option");
            let is_known = node.flags.iter().any(|flag| flag.names.contains(&last.names[0]));
            if !is_known {
                node.flags.push(last);
            }
        }
    }
}

fn change_flag(flag: &mut Flag, random: &mut Numbers) {
    match random.below(9) {
        0 | 1 => flag.tier = random.tier(),
        2 => flag.cap = if flag.cap.is_some() { None } else { Some(random.tier()) },
        3 if flag.names.len() > 1 => random.drop_from(&mut flag.names),
        4 => flag.role = Role::ALL[random.below(Role::ALL.len())],
        5 => flag.arity = Arity::ALL[random.below(Arity::ALL.len())],
        6 => flag.everywhere = !flag.everywhere,
        7 => change_values(&mut flag.values, random),
        _ => {
            if let Some(name) = random.at(&mut flag.names) {
                name.push('2');
            }
        }
    }
}

fn change_values(values: &mut Vec<Value>, random: &mut Numbers) {
    match random.below(4) {
        0 => random.drop_from(values),
        1 => random.swap(values),
        2 => {
            if let Some(value) = random.at(values) {
                value.tier = random.tier();
            }
        }
        _ => {
            if let Some(value) = random.at(values) {
                value.cap = if value.cap.is_some() { None } else { Some(random.tier()) };
            }
        }
    }
}

fn change_operand(operand: &mut Operand, random: &mut Numbers) {
    match random.below(4) {
        0 | 1 => operand.role = Role::ALL[random.below(Role::ALL.len())],
        2 => change_values(&mut operand.values, random),
        _ => operand.position = Position::ALL[random.below(Position::ALL.len())],
    }
}

fn change_form(form: &mut Form, names: &[String], random: &mut Numbers) {
    match random.below(9) {
        0 => form.tier = random.tier(),
        1 => random.drop_from(&mut form.has),
        2 => random.drop_from(&mut form.without),
        3 => random.drop_from(&mut form.matching),
        4 => form.least = form.least.saturating_sub(1),
        5 => form.most = form.most.saturating_add(1),
        6 => form.has.extend(random.pick(names).cloned()),
        7 => random.drop_from(&mut form.roles),
        _ => random.drop_from(&mut form.operands),
    }
}

fn form(tier: Tier, has: Vec<String>) -> Form {
    Form {
        tier,
        says: String::new(),
        has,
        without: Vec::new(),
        least: 0,
        most: u8::MAX,
        matching: Vec::new(),
        operands: Vec::new(),
        roles: Vec::new(),
        output: None,
        stdin: None,
        writes: String::new(),
        place: relay_policy::facts::Place::default(),
    }
}

/// Changes the policy around the facts.
fn change_policy(contents: &mut Contents, random: &mut Numbers) {
    let policy = contents.policy.as_mut().expect("a policy");
    let floors = &mut policy.floors;
    let tier = random.tier();
    let row = |kind, pattern: &str| PathRow {
        kind,
        patterns: vec![pattern.to_owned()],
        except: Vec::new(),
        at: Place { file: "project.kdl".into(), line: 1, column: 1 },
    };
    match random.below(8) {
        0 => floors.unknown_program.value = tier,
        1 => floors.unknown_flag.value = tier,
        2 => floors.unknown_word.value = tier,
        3 => floors.opaque_code.value = tier,
        4 => floors.unparsed.value = tier,
        5 => random.drop_from(&mut policy.paths),
        _ => {
            let kind = PathKind::ALL[random.below(4)];
            let pattern = PATTERNS[random.below(PATTERNS.len())];
            if !policy.paths.iter().any(|it| it.kind == kind && it.patterns[0] == pattern) {
                policy.paths.push(row(kind, pattern));
            }
        }
    }
}

/// A command of the corpora.
struct Command {
    text: String,
    /// The words of its text, cut at the signs of a shell.
    words: BTreeSet<String>,
    /// The doubts that the shipped facts leave about it.
    doubts: Vec<Floor>,
}

impl Command {
    fn of(text: String, facts: &Facts<'_>, rules: &Rules) -> Self {
        let is_sign = |letter: char| !letter.is_alphanumeric() && !"-_.+[:@".contains(letter);
        let words = text.split(is_sign).map(str::to_owned).collect();
        let hits = classify(&text, facts, rules).hits;
        let doubts = hits.iter().filter_map(|hit| match hit.cause {
            Cause::Floor { floor, .. } => Some(floor),
            _ => None,
        });
        Self { words, doubts: doubts.collect(), text }
    }

    fn names(&self, program: &Node) -> bool {
        program.names.iter().any(|name| self.words.contains(name))
    }
}

/// The changes of a pair, as far as they say which commands may be judged otherwise.
#[derive(Default)]
struct Changed {
    programs: Vec<usize>,
    floors: Vec<Floor>,
    /// A literal part of each pattern.
    paths: Vec<String>,
    variables: bool,
}

impl Changed {
    /// Adds the floors and paths in which two policies differ.
    fn policy(&mut self, before: &Policy, after: &Policy) {
        let pairs = before.floors.iter().zip(after.floors.iter());
        let pairs = pairs.filter(|((_, old), (_, new))| old.value != new.value);
        self.floors.extend(pairs.map(|((floor, _), _)| floor));
        let rows = before.paths.iter().chain(&after.paths);
        let changed = rows.filter(|row| !(before.paths.contains(row) && after.paths.contains(row)));
        let literal = |pattern: &String| pattern.replace(['*', '~'], "").replace("./", "");
        let parts = changed.flat_map(|row| row.patterns.iter().map(literal));
        self.paths.extend(parts.map(|part| part.trim_matches('/').to_owned()));
    }

    fn touches(&self, command: &Command, shipped: &Knowledge) -> bool {
        let mut programs = self.programs.iter();
        programs.any(|at| command.names(&shipped.programs[*at]))
            || self.floors.iter().any(|floor| command.doubts.contains(floor))
            || self.paths.iter().any(|part| command.text.contains(part))
            || (self.variables && command.text.contains('='))
    }
}

/// Drops the programs that no command names, which makes tables small. A pattern of names stays.
fn reduce(all: &mut Knowledge, commands: &[Command]) {
    let words: BTreeSet<&str> =
        commands.iter().flat_map(|it| it.words.iter().map(String::as_str)).collect();
    let is_named = |name: &String| name.contains('*') || words.contains(name.as_str());
    all.programs.retain(|program| program.builtin || program.names.iter().any(is_named));
}

/// Returns the numbers of the programs that the corpora run most.
fn programs(all: &Knowledge, commands: &[Command]) -> Vec<usize> {
    let count = |at: &usize| commands.iter().filter(|it| it.names(&all.programs[*at])).count();
    let mut numbers: Vec<usize> =
        (0..all.programs.len()).filter(|at| !all.programs[*at].builtin).collect();
    numbers.sort_by_cached_key(|at| std::cmp::Reverse(count(at)));
    numbers.truncate(PROGRAMS);
    numbers
}

fn bundle(contents: &Contents, knowledge: &Knowledge) -> Option<Bundle> {
    let facts = table(knowledge).ok()?;
    Facts::open(&facts).ok()?;
    let contents = Contents { facts, ..contents.clone() };
    Bundle::open(Box::new(encode(&contents).ok()?)).ok()
}

fn tiers(bundle: &Bundle, commands: &[&str]) -> Vec<u8> {
    let facts = Facts::open(bundle.facts().expect("facts")).expect("a table");
    let rules = Rules::of(bundle).expect("rules").expect("a policy");
    commands.iter().map(|command| classify(command, &facts, &rules).tier.number()).collect()
}

#[test]
fn whenever_a_command_is_lower_the_comparison_says_loosens() {
    let mut base = project("").contents().expect("contents");
    let facts = Facts::open(&base.facts).expect("facts");
    let rules = Rules::default();
    let commands = all_commands().into_iter();
    let commands: Vec<Command> = commands.map(|text| Command::of(text, &facts, &rules)).collect();
    assert!(commands.len() > 4000, "{} commands", commands.len());
    let mut shipped = facts.knowledge();
    reduce(&mut shipped, &commands);
    base.facts = table(&shipped).expect("a table");
    let unchanged = bundle(&base, &shipped).expect("a bundle");
    let numbers = programs(&shipped, &commands);
    let mut random = Numbers(0xD1B5_4A32_D192_ED03);
    let (mut lowered, mut silent, mut wrong) = (0, 0, String::new());
    for _ in 0..PAIRS {
        let (mut knowledge, mut contents) = (shipped.clone(), base.clone());
        let mut changed = Changed::default();
        for _ in 0..=random.below(2) {
            if random.is(6) {
                change_policy(&mut contents, &mut random);
            } else if random.is(24) {
                random.drop_from(&mut knowledge.environment);
                changed.variables = true;
            } else if let Some(at) = random.pick(&numbers).copied() {
                change(&mut knowledge.programs[at], &mut random);
                changed.programs.push(at);
            }
        }
        if let (Some(before), Some(after)) = (&base.policy, &contents.policy) {
            changed.policy(before, after);
        }
        let Some(other) = bundle(&contents, &knowledge) else { continue };
        // A part that is removed on one side is added on the other.
        let (a, b) = if random.is(2) { (&other, &unchanged) } else { (&unchanged, &other) };
        let (touched, others): (Vec<_>, Vec<_>) =
            commands.iter().partition(|command| changed.touches(command, &shipped));
        let mut drawn = random.sample(touched, TOUCHED_MAX);
        drawn.extend(random.sample(others, OTHERS));
        let drawn: Vec<&str> = drawn.into_iter().map(|command| command.text.as_str()).collect();
        let (old, new) = (tiers(a, &drawn), tiers(b, &drawn));
        let lower = (0..drawn.len()).find(|at| new[*at] < old[*at]);
        let found = relay_diff::compare(a, b).expect("a comparison");
        let loosens = found.iter().any(|it| it.direction == Some(Direction::NotProved));
        lowered += usize::from(lower.is_some());
        silent += usize::from(!loosens);
        if let (Some(at), false) = (lower, loosens) {
            let command = drawn[at];
            wrong.push_str(&format!("{} -> {}: {command}\n{}", old[at], new[at], shown(&found)));
        }
        for witness in found.iter().filter_map(|it| it.witness.as_ref()) {
            let of = |bundle| tiers(bundle, &[&witness.command])[0];
            assert_eq!((of(a), of(b)), (witness.before, witness.after), "{witness}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(lowered > PAIRS / 10 && silent > PAIRS / 10, "{lowered} lowered, {silent} silent");
}
