//! Facts as KDL, from a table of facts.
//!
//! Defaults are left out, and properties are in the order of the language reference, so the same
//! facts have one text.

use relay_policy::facts::{Arity, Flag, Form, Node, Operand, Position, Role, Style, Value};
use relay_policy::tier::Tier;

use super::node::{EffectiveNode, Scalar, write_kdl};
use super::renderer::scalar;
use crate::grammar::{self, Literal, Rule};
use crate::language::facts::{
    ENVIRONMENT, FLAGS, FORM, FORM_ROLE, HAS, MATCHING, PROGRAM, SUBS, VALUE, WITHOUT, operand_rule,
};
use crate::language::shared::BECAUSE;

/// A `program` of a project.
#[derive(Debug, Clone, Copy)]
pub struct OwnProgram<'k> {
    /// Its facts.
    pub program: &'k Node,
    /// The reason for replacing a shipped one.
    pub because: Option<&'k str>,
}

/// An `environment` of a project: harmless variables.
#[derive(Debug, Clone)]
pub struct OwnVariables<'k> {
    /// The variables.
    pub names: Vec<&'k str>,
    /// The reason for which they are harmless.
    pub because: Option<&'k str>,
}

/// Returns facts as the nodes of `facts { … }`.
#[must_use]
pub fn facts_kdl(programs: &[OwnProgram<'_>], variables: &[OwnVariables<'_>]) -> String {
    let programs = programs.iter().map(|OwnProgram { program, because }| {
        fact(&PROGRAM, program, Style::Gnu, 0).text(BECAUSE.name, because.unwrap_or_default())
    });
    let variables = variables.iter().map(|OwnVariables { names, because }| {
        Row::of(&ENVIRONMENT, names).text(BECAUSE.name, because.unwrap_or_default())
    });
    let mut text = String::new();
    for row in programs.chain(variables) {
        write_kdl(&row.node, 1, false, &mut text);
    }
    text
}

/// A node of facts; the defaults of its row are left out.
struct Row {
    rule: &'static Rule,
    node: EffectiveNode,
}

impl Row {
    /// Begins a node whose arguments are texts.
    fn of(rule: &'static Rule, arguments: &[impl AsRef<str>]) -> Self {
        let text = |text: &_| Scalar::Text(AsRef::<str>::as_ref(text).to_owned());
        let arguments = arguments.iter().map(text).collect();
        Self { rule, node: EffectiveNode { arguments, ..EffectiveNode::of(rule) } }
    }

    /// Adds a text, unless it is empty.
    fn text(mut self, name: &'static str, text: &str) -> Self {
        if !text.is_empty() {
            self.node.put(self.rule, name, Scalar::Text(text.to_owned()));
        }
        self
    }

    /// Adds a value, unless it is the default of its row.
    fn value(self, name: &'static str, value: impl grammar::Scalar) -> Self {
        let default = self.rule.default(name);
        self.unless(default, name, value)
    }

    /// Adds a value, if there is one.
    fn optional(self, name: &'static str, value: Option<impl grammar::Scalar>) -> Self {
        match value {
            Some(value) => self.unless(None, name, value),
            None => self,
        }
    }

    /// Adds a value, unless it is this default.
    fn unless(
        mut self,
        default: Option<Literal<'static>>,
        name: &'static str,
        value: impl grammar::Scalar,
    ) -> Self {
        let kind = self.rule.field(name).map(|field| field.kind);
        if let Some((kind, literal)) = kind.map(|kind| (kind, value.encode(kind)))
            && default != Some(literal)
        {
            self.node.put(self.rule, name, scalar(literal, kind));
        }
        self
    }

    fn with(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.node.children.extend(children.into_iter().map(|row| row.node));
        self
    }
}

/// Returns a program or sub-command; `style` is the style of the node around it, which its own
/// replaces.
fn fact(rule: &'static Rule, fact: &Node, style: Style, depth: usize) -> Row {
    let Node {
        names,
        tier,
        says,
        style: own_style,
        stop,
        sub_at,
        numbers,
        bundle_first,
        ignore_case,
        sends,
        listens,
        builtin,
        user,
        writes,
        stdin,
        output,
        special,
        flags,
        operands,
        forms,
        subs,
        checked,
        place: _,
    } = fact;
    // Sub-commands are at most as deep as their rules.
    let sub_rule = SUBS.get(depth).copied().unwrap_or(rule);
    Row::of(rule, names)
        .optional("tier", *tier)
        .text("says", says)
        .text("checked", checked)
        .optional("style", Some(*own_style).filter(|own| *own != style))
        .value("stop", *stop)
        .value("sub-at", *sub_at)
        .value("numbers", *numbers)
        .value("bundle-first", *bundle_first)
        .value("ignore-case", *ignore_case)
        .value("sends", *sends)
        .value("listens", *listens)
        .value("builtin", *builtin)
        .text("user", user)
        .text("writes", writes)
        .value("stdin", *stdin)
        .value("output", *output)
        .value("special", *special)
        .with(flags.iter().map(flag))
        .with(operands.iter().map(operand))
        .with(forms.iter().map(form))
        .with(subs.iter().map(|sub| self::fact(sub_rule, sub, *own_style, depth + 1)))
}

fn flag(flag: &Flag) -> Row {
    let Flag { names, tier, cap, arity, role, says, everywhere, values, place: _ } = flag;
    let row = Row::of(&FLAGS, names);
    let row = match arity {
        Arity::None => row.value("listens", *role == Role::Listen),
        Arity::Required => row.optional("value", Some(*role)),
        Arity::Attached => row.optional("attached", Some(*role)),
    };
    row.optional("tier", raising(*tier))
        .optional("cap", *cap)
        .text("says", says)
        .value("everywhere", *everywhere)
        .with(self::values(values))
}

fn operand(operand: &Operand) -> Row {
    let Operand { position, from, not_last, role, values, place: _ } = operand;
    debug_assert!(*position == Position::Rest || *from == 0 && !not_last);
    let row = Row::of(operand_rule(*position), &[role.word()]);
    let row = match position {
        Position::Rest => row.value("from", *from).value("not-last", *not_last),
        Position::Next | Position::Last => row,
    };
    row.with(self::values(values))
}

/// Returns the rows of values; patterns of one meaning share a row.
fn values(values: &[Value]) -> impl Iterator<Item = Row> {
    let is_alike = |a: &Value, b: &Value| {
        let of = |value: &Value| Value { pattern: String::new(), ..value.clone() };
        of(a) == of(b)
    };
    values.chunk_by(is_alike).filter_map(|rows| {
        let Value { pattern: _, tier, cap, role, says, place: _ } = rows.first()?;
        let patterns: Vec<String> = rows.iter().map(|row| pattern(&row.pattern)).collect();
        let row = Row::of(&VALUE, &patterns)
            .optional("tier", raising(*tier))
            .optional("cap", *cap)
            .value("role", *role)
            .text("says", says);
        Some(row)
    })
}

fn form(form: &Form) -> Row {
    let Form {
        tier,
        says,
        has,
        without,
        least,
        most,
        matching,
        operands,
        roles,
        output,
        stdin,
        writes,
        place: _,
    } = form;
    let listed = |rule, list: &[String]| (!list.is_empty()).then(|| Row::of(rule, list));
    let matching: Vec<String> = matching.iter().map(|text| pattern(text)).collect();
    let roles = roles.chunk_by(|(_, a), (_, b)| a == b).filter_map(|rows| {
        let (_, role) = rows.first()?;
        let names: Vec<&str> = rows.iter().map(|(name, _)| name.as_str()).collect();
        Some(Row::of(&FORM_ROLE, &names).optional("is", Some(*role)))
    });
    let none: &[&str] = &[];
    Row::of(&FORM, none)
        .value("tier", *tier)
        .text("says", says)
        .value("least", *least)
        .value("most", *most)
        .optional("output", *output)
        .optional("stdin", *stdin)
        .text("writes", writes)
        .with(listed(&HAS, has))
        .with(listed(&WITHOUT, without))
        .with(listed(&MATCHING, &matching))
        .with(operands.iter().map(operand))
        .with(roles)
}

/// Returns a tier, unless it is the lowest.
fn raising(tier: Tier) -> Option<Tier> {
    (tier != Tier::ReadOnly).then_some(tier)
}

/// Returns a pattern in the form of fact files: a `*` that is the character is written `[*]`, and
/// only a pattern with a `*` at its end holds such characters.
fn pattern(pattern: &str) -> String {
    match pattern.strip_suffix('*') {
        Some(start) => format!("{}*", start.replace('*', "[*]")),
        None => pattern.to_owned(),
    }
}
