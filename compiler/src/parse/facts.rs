//! `program NAME… { … }`: facts about programs.
//!
//! The shipped facts are documents of such nodes; a project has them in `facts { … }`.

mod check;
mod groups;
mod names;
mod pattern;
mod reason;
mod written;

use hashbrown::HashMap;
use relay_policy::facts::{
    Arity, Flag, Form, Knowledge, LanguageWords, Node as Fact, Operand, Place, Position, Role,
    Style, Value as KnownValue, WordKind,
};
use relay_policy::tier::Tier;

use super::empty;
use super::node::{Node, Reader, Scalar};
use crate::ast::{FactEnvironment, FactProgram, Facts, Plain, Written};
use crate::diagnostic::Diagnostics;
use crate::grammar::Rule;
use crate::language::facts::{
    self as rules, CHECKED, ENVIRONMENT, FACT_FILE, FACTS, FLAGS, FORM, FORM_ROLE, HAS, MATCHING,
    OPERANDS, PROGRAM, SUBS, UNCHECKED, USE, VALUE, WITHOUT, WORDS,
};
use crate::language::shared::BECAUSE;
use crate::source::{Span, Spanned};
use names::Names;
use written::Word;

/// The lines of a file, to turn a span into the place of a fact: the number of the file, and the
/// byte at which each line begins.
pub(super) struct Lines {
    pub(super) file: u8,
    pub(super) starts: Vec<u32>,
}

impl Lines {
    pub(super) fn new(file: u8, bytes: &[u8]) -> Self {
        let newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let after = newlines.map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX));
        Self { file, starts: std::iter::once(0).chain(after).collect() }
    }

    fn place(&self, at: Span) -> Place {
        let line = self.starts.partition_point(|start| *start <= at.start);
        Place { file: self.file, line: u16::try_from(line).unwrap_or(u16::MAX) }
    }
}

/// Reads the `facts` of a project.
pub(super) fn block(node: &Node, lines: &Lines, out: &mut Diagnostics) -> Facts {
    empty::check(node, out);
    let Contents { programs, environment, words: _ } = contents(node, &FACTS, lines, out);
    Facts { at: node.name.at, programs, environment }
}

/// Reads fact files: a name may be declared in one of them.
pub(super) struct FactFiles {
    programs: Names,
    words: HashMap<Role, Names>,
}

impl FactFiles {
    pub(super) fn new() -> Self {
        Self { programs: Names::of("program"), words: HashMap::new() }
    }

    /// Adds a fact file. Its nodes are in `file` as they are in the `facts` of a project.
    pub(super) fn read(
        &mut self,
        file: &Node,
        lines: &Lines,
        knowledge: &mut Knowledge,
        out: &mut Diagnostics,
    ) {
        let Contents { programs, environment, words } = contents(file, &FACT_FILE, lines, out);
        for FactProgram { names, fact, .. } in programs {
            self.programs.declare(names.iter().map(Word::of), out);
            knowledge.programs.push(fact);
        }
        let names = environment.into_iter().flat_map(|row| row.names);
        knowledge.environment.extend(names.map(|name| name.value));
        for (node, row) in words {
            let known = self.words.entry(row.language).or_insert_with(|| Names::of("word"));
            known.declare(written::words(&node), out);
            knowledge.words.push(row);
        }
    }
}

/// Everything in a node of facts.
struct Contents {
    programs: Vec<FactProgram>,
    environment: Vec<FactEnvironment>,
    /// Words of languages, which only shipped facts have, with their nodes.
    words: Vec<(Node, LanguageWords)>,
}

/// Reads a node of facts.
fn contents(node: &Node, rule: &'static Rule, lines: &Lines, out: &mut Diagnostics) -> Contents {
    let children = groups::expand(node.children.as_deref().unwrap_or_default(), out);
    let takes = |name: &str| rule.children.iter().any(|rule| rule.name == name);
    let (has_words, has_check) = (takes(WORDS.name), takes(CHECKED.name));
    let mut reader = Reader::new(node, rule, out);
    let _ = reader.any_children(rule.children);
    let file_check = if has_check { reader.child(CHECKED.name, out) } else { None };
    let file_check = file_check.map_or_else(String::new, |node| check_of_file(node, out));
    reader.finish(out);
    let mut contents =
        Contents { programs: Vec::new(), environment: Vec::new(), words: Vec::new() };
    for child in children {
        match child.name.value.as_str() {
            "program" => {
                let mut program = program(&child, lines, out);
                let checked = &mut program.fact.checked;
                if checked.is_empty() {
                    checked.clone_from(&file_check);
                } else if checked == UNCHECKED {
                    checked.clear();
                }
                contents.programs.push(program);
            }
            "environment" => contents.environment.push(environment(&child, out)),
            "words" if has_words => {
                let row = words(&child, lines, out);
                contents.words.extend(row.map(|row| (child, row)));
            }
            // The reader reports it as unknown.
            _ => {}
        }
    }
    contents
}

/// Reads `checked`.
fn check_of_file(node: &Node, out: &mut Diagnostics) -> String {
    let mut reader = Reader::new(node, &CHECKED, out);
    let text = reader.name(out);
    reader.finish(out);
    text.map_or_else(String::new, |text| text.value)
}

/// Reads `program`.
fn program(node: &Node, lines: &Lines, out: &mut Diagnostics) -> FactProgram {
    check::program(node, out);
    let (fact, because) = fact(node, &PROGRAM, 0, Style::Gnu, lines, out);
    FactProgram {
        at: node.name.at,
        names: written::words(node)
            .map(|name| Spanned { value: name.text.to_owned(), at: name.at })
            .collect(),
        because,
        fact,
        written: as_written(node, &PROGRAM),
        rows: reason::rows(node),
    }
}

/// Reads `environment`: harmless variables.
fn environment(node: &Node, out: &mut Diagnostics) -> FactEnvironment {
    pattern::check_names(written::words(node), out);
    let mut reader = Reader::new(node, &ENVIRONMENT, out);
    let names = reader.texts(out);
    let because = reader.text(BECAUSE.name, out);
    reader.finish(out);
    FactEnvironment { at: node.name.at, names, because }
}

/// Returns a node as written, less the parts that its rule lacks, which were reported.
fn as_written(node: &Node, rule: &'static Rule) -> Written {
    let plain = |scalar: &Scalar| match scalar {
        Scalar::Text(text) => Some(Plain::Text(text.clone())),
        Scalar::Integer(number) => u64::try_from(*number).ok().map(Plain::Number),
        Scalar::Boolean(yes) => Some(Plain::Boolean(*yes)),
        Scalar::Float(_) | Scalar::Null => None,
    };
    let properties = node.properties.iter().filter_map(|property| {
        let field = rule.property(&property.name.value)?;
        Some((field.name, plain(&property.value.scalar)?))
    });
    let children = node.children.iter().flatten().filter_map(|child| {
        let rule = rule.children.iter().find(|rule| rule.name == child.name.value)?;
        Some(as_written(child, rule))
    });
    Written {
        name: rule.name,
        arguments: node.arguments.iter().filter_map(|value| plain(&value.scalar)).collect(),
        properties: properties.collect(),
        children: children.collect(),
    }
}

/// Reads `words`: words of a language.
fn words(node: &Node, lines: &Lines, out: &mut Diagnostics) -> Option<LanguageWords> {
    let mut reader = Reader::new(node, &WORDS, out);
    let language = reader.value::<Role>("language", out);
    let kind = reader.value::<WordKind>("kind", out);
    let words = reader.texts(out).into_iter().map(|word| word.value).collect();
    reader.finish(out);
    let place = lines.place(node.name.at);
    Some(LanguageWords { language: language?.value, kind: kind?.value, words, place })
}

/// Reads a program or a sub-command at this depth, with a reason if it has one. `style` is the
/// style of the node around it, which its own replaces.
fn fact(
    node: &Node,
    rule: &'static Rule,
    depth: usize,
    style: Style,
    lines: &Lines,
    out: &mut Diagnostics,
) -> (Fact, Option<Spanned<String>>) {
    let mut reader = Reader::new(node, rule, out);
    // The reason of a sub-command is read again with its place, as those of all rows.
    let because = reader.text(BECAUSE.name, out);
    let style = reader.value("style", out).map_or(style, |style| style.value);
    let mut fact = Fact {
        names: reader.texts(out).into_iter().map(|name| name.value).collect(),
        tier: tier(&mut reader, "tier", out),
        says: text(&mut reader, "says", out),
        style,
        stop: reader.value_or_default("stop", out),
        sub_at: reader.value_or_default("sub-at", out),
        numbers: reader.value_or_default("numbers", out),
        bundle_first: reader.value_or_default("bundle-first", out),
        ignore_case: reader.value_or_default("ignore-case", out),
        sends: reader.value_or_default("sends", out),
        listens: reader.value_or_default("listens", out),
        builtin: reader.value_or_default("builtin", out),
        user: text(&mut reader, "user", out),
        writes: text(&mut reader, "writes", out),
        stdin: reader.value_or_default("stdin", out),
        output: reader.value_or_default("output", out),
        special: reader.value_or_default("special", out),
        flags: reader.children("flags").filter_map(|child| flag(child, lines, out)).collect(),
        operands: operands(&mut reader, lines, out),
        forms: reader.children("form").map(|child| form(child, lines, out)).collect(),
        subs: Vec::new(),
        checked: if depth == 0 { text(&mut reader, "checked", out) } else { String::new() },
        place: lines.place(node.name.at),
    };
    if let Some(sub_rule) = SUBS.get(depth) {
        let subs = reader.children("sub");
        fact.subs =
            subs.map(|sub| self::fact(sub, sub_rule, depth + 1, style, lines, out).0).collect();
    }
    // Every `use` was already replaced by its groups.
    let _ = reader.children(USE.name);
    reader.finish(out);
    (fact, because)
}

fn flag(node: &Node, lines: &Lines, out: &mut Diagnostics) -> Option<Flag> {
    let mut reader = Reader::new(node, &FLAGS, out);
    let names = reader.texts(out).into_iter().map(|name| name.value).collect();
    let required = reader.value::<Role>("value", out);
    let attached = reader.value::<Role>("attached", out);
    let arity = match (&required, &attached) {
        (Some(_), _) => Arity::Required,
        (None, Some(_)) => Arity::Attached,
        (None, None) => Arity::None,
    };
    let listens: bool = reader.value_or_default("listens", out);
    let usual = if listens { Role::Listen } else { Role::Text };
    let flag = Flag {
        names,
        tier: tier(&mut reader, "tier", out).unwrap_or_default(),
        cap: tier(&mut reader, "cap", out),
        arity,
        role: required.or(attached).map_or(usual, |role| role.value),
        says: text(&mut reader, "says", out),
        everywhere: reader.value_or_default("everywhere", out),
        values: values(&mut reader, lines, out),
        place: lines.place(node.name.at),
    };
    // Its reason is read with its place.
    let _ = text(&mut reader, BECAUSE.name, out);
    reader.finish(out);
    Some(flag)
}

fn values(reader: &mut Reader<'_>, lines: &Lines, out: &mut Diagnostics) -> Vec<KnownValue> {
    let mut values = Vec::new();
    for child in reader.children("value") {
        let mut reader = Reader::new(child, &VALUE, out);
        let patterns = reader.texts(out);
        let value = KnownValue {
            pattern: String::new(),
            tier: tier(&mut reader, "tier", out).unwrap_or_default(),
            cap: tier(&mut reader, "cap", out),
            role: reader.value_or_default("role", out),
            says: text(&mut reader, "says", out),
            place: lines.place(child.name.at),
        };
        reader.finish(out);
        values.extend(
            patterns
                .into_iter()
                .map(|it| KnownValue { pattern: pattern::read(it, out), ..value.clone() }),
        );
    }
    values
}

fn operands(reader: &mut Reader<'_>, lines: &Lines, out: &mut Diagnostics) -> Vec<Operand> {
    let mut operands = Vec::new();
    for (rule, position) in OPERANDS.iter().zip(Position::ALL) {
        for child in reader.children(rule.name) {
            let mut reader = Reader::new(child, rule, out);
            let role = reader
                .argument(out)
                .and_then(|value| value.literal(rules::ROLE_KIND, out))
                .and_then(|literal| <Role as crate::grammar::Scalar>::decode(literal.value));
            let is_rest = *position == Position::Rest;
            operands.push(Operand {
                position: *position,
                from: if is_rest { reader.value_or_default("from", out) } else { 0 },
                not_last: is_rest && reader.value_or_default("not-last", out),
                role: role.unwrap_or_default(),
                values: values(&mut reader, lines, out),
                place: lines.place(child.name.at),
            });
            let _ = text(&mut reader, BECAUSE.name, out);
            reader.finish(out);
        }
    }
    operands
}

fn form(node: &Node, lines: &Lines, out: &mut Diagnostics) -> Form {
    let mut reader = Reader::new(node, &FORM, out);
    let form = Form {
        tier: reader.value_or_default("tier", out),
        says: text(&mut reader, "says", out),
        has: reader.children("has").flat_map(|child| names(child, &HAS, out)).collect(),
        without: reader.children("without").flat_map(|it| names(it, &WITHOUT, out)).collect(),
        least: reader.value_or_default("least", out),
        most: reader.value_or_default("most", out),
        matching: reader.children("matching").flat_map(|child| patterns(child, out)).collect(),
        operands: operands(&mut reader, lines, out),
        roles: reader.children("role").flat_map(|child| form_roles(child, out)).collect(),
        output: reader.value("output", out).map(|output| output.value),
        stdin: reader.value("stdin", out).map(|role| role.value),
        writes: text(&mut reader, "writes", out),
        place: lines.place(node.name.at),
    };
    let _ = text(&mut reader, BECAUSE.name, out);
    reader.finish(out);
    form
}

fn form_roles(node: &Node, out: &mut Diagnostics) -> Vec<(String, Role)> {
    let mut reader = Reader::new(node, &FORM_ROLE, out);
    let names = reader.texts(out);
    let role = reader.value::<Role>("is", out).map_or(Role::Text, |role| role.value);
    reader.finish(out);
    names.into_iter().map(|name| (name.value, role)).collect()
}

/// Reads patterns of operands.
fn patterns(node: &Node, out: &mut Diagnostics) -> Vec<String> {
    let mut reader = Reader::new(node, &MATCHING, out);
    let patterns = reader.texts(out);
    reader.finish(out);
    patterns.into_iter().map(|it| pattern::read(it, out)).collect()
}

/// Reads a node of names.
fn names(node: &Node, rule: &'static Rule, out: &mut Diagnostics) -> Vec<String> {
    let mut reader = Reader::new(node, rule, out);
    let names = reader.texts(out);
    reader.finish(out);
    names.into_iter().map(|name| name.value).collect()
}

fn tier(reader: &mut Reader<'_>, name: &'static str, out: &mut Diagnostics) -> Option<Tier> {
    reader.value(name, out).map(|tier| tier.value)
}

fn text(reader: &mut Reader<'_>, name: &'static str, out: &mut Diagnostics) -> String {
    reader.text(name, out).map_or_else(String::new, |text| text.value)
}
