//! Facts as KDL, from what a table of facts says.
//!
//! Defaults are left out, and properties are in the order of the language reference, so the same facts have
//! one text.

use relay_policy::facts::{
    Arity, Flag, Form, Node, Operand, Output, Position, Role, Special, Style, Value,
};
use relay_policy::tier::Tier;

use super::node::{EffectiveNode, Scalar, write_kdl};

/// A `program` of a project.
#[derive(Debug, Clone, Copy)]
pub struct OwnProgram<'k> {
    /// Its facts.
    pub program: &'k Node,
    /// Why it replaces a shipped one.
    pub because: Option<&'k str>,
}

/// An `environment` of a project: variables that change no code.
#[derive(Debug, Clone)]
pub struct OwnVariables<'k> {
    /// The variables.
    pub names: Vec<&'k str>,
    /// Why they change none.
    pub because: Option<&'k str>,
}

/// Returns facts as the nodes that `facts { … }` has.
#[must_use]
pub fn facts_kdl(programs: &[OwnProgram<'_>], variables: &[OwnVariables<'_>]) -> String {
    let programs = programs.iter().map(|OwnProgram { program, because }| {
        fact("program", program, Style::Gnu).text("because", because.unwrap_or_default())
    });
    let variables = variables.iter().map(|OwnVariables { names, because }| {
        named("environment", names).text("because", because.unwrap_or_default())
    });
    let mut text = String::new();
    for node in programs.chain(variables) {
        write_kdl(&node, 1, false, &mut text);
    }
    text
}

/// Returns a node whose arguments are texts.
fn named(name: &'static str, arguments: &[impl AsRef<str>]) -> EffectiveNode {
    let text = |text: &_| Scalar::Text(AsRef::<str>::as_ref(text).to_owned());
    EffectiveNode {
        name,
        arguments: arguments.iter().map(text).collect(),
        ..EffectiveNode::default()
    }
}

impl EffectiveNode {
    fn property(mut self, name: &'static str, value: Option<Scalar>) -> Self {
        self.properties.extend(value.map(|value| (name, value)));
        self
    }

    /// Adds a text, unless it is empty.
    fn text(self, name: &'static str, text: &str) -> Self {
        self.property(name, (!text.is_empty()).then(|| Scalar::Text(text.to_owned())))
    }

    /// Adds a number, unless it is the default.
    fn number(self, name: &'static str, number: u8, default: u8) -> Self {
        self.property(name, (number != default).then(|| Scalar::Number(number.into())))
    }

    /// Adds a flag, if it is set.
    fn set(self, name: &'static str, is_set: bool) -> Self {
        self.property(name, is_set.then_some(Scalar::Boolean(true)))
    }

    fn tier(self, name: &'static str, tier: Option<Tier>) -> Self {
        self.property(name, tier.map(|tier| Scalar::Number(tier.number().into())))
    }

    fn with(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children.extend(children);
        self
    }
}

/// Returns a word, unless it is the default.
fn word<T: PartialEq>(value: T, default: &T, word: fn(T) -> &'static str) -> &'static str {
    if value == *default { "" } else { word(value) }
}

/// Returns a program or sub-command, which reads its words as `style` unless it says otherwise.
fn fact(name: &'static str, fact: &Node, style: Style) -> EffectiveNode {
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
    named(name, names)
        .tier("tier", *tier)
        .text("says", says)
        .text("checked", checked)
        .text("style", word(*own_style, &style, Style::word))
        .number("stop", *stop, 0)
        .number("sub-at", *sub_at, 1)
        .set("numbers", *numbers)
        .set("bundle-first", *bundle_first)
        .set("ignore-case", *ignore_case)
        .set("sends", *sends)
        .set("listens", *listens)
        .set("builtin", *builtin)
        .text("user", user)
        .text("writes", writes)
        .text("stdin", word(*stdin, &Role::Text, Role::word))
        .text("output", word(*output, &Output::Opaque, Output::word))
        .text("special", word(*special, &Special::Nothing, Special::word))
        .with(flags.iter().map(flag))
        .with(operands.iter().map(operand))
        .with(forms.iter().map(form))
        .with(subs.iter().map(|sub| self::fact("sub", sub, *own_style)))
}

fn flag(flag: &Flag) -> EffectiveNode {
    let Flag { names, tier, cap, arity, role, says, everywhere, values, place: _ } = flag;
    let node = named("flags", names);
    let node = match arity {
        Arity::None => node.set("listens", *role == Role::Listen),
        Arity::Required => node.text("value", role.word()),
        Arity::Attached => node.text("attached", role.word()),
    };
    node.tier("tier", raising(*tier))
        .tier("cap", *cap)
        .text("says", says)
        .set("everywhere", *everywhere)
        .with(self::values(values))
}

fn operand(operand: &Operand) -> EffectiveNode {
    let Operand { position, from, not_last, role, values, place: _ } = operand;
    debug_assert!(*position == Position::Rest || *from == 0 && !not_last);
    named(position.word(), &[role.word()])
        .number("from", *from, 0)
        .set("not-last", *not_last)
        .with(self::values(values))
}

/// Returns the rows of values; patterns that mean the same are one row.
fn values(values: &[Value]) -> impl Iterator<Item = EffectiveNode> {
    let is_alike = |a: &Value, b: &Value| {
        let of = |value: &Value| Value { pattern: String::new(), ..value.clone() };
        of(a) == of(b)
    };
    values.chunk_by(is_alike).filter_map(|rows| {
        let Value { pattern: _, tier, cap, role, says, place: _ } = rows.first()?;
        let patterns: Vec<String> = rows.iter().map(|row| pattern(&row.pattern)).collect();
        let node = named("value", &patterns)
            .tier("tier", raising(*tier))
            .tier("cap", *cap)
            .text("role", word(*role, &Role::Text, Role::word))
            .text("says", says);
        Some(node)
    })
}

fn form(form: &Form) -> EffectiveNode {
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
    let listed = |name, list: &[String]| (!list.is_empty()).then(|| named(name, list));
    let matching: Vec<String> = matching.iter().map(|text| pattern(text)).collect();
    let roles = roles.chunk_by(|(_, a), (_, b)| a == b).filter_map(|rows| {
        let (_, role) = rows.first()?;
        let names: Vec<&str> = rows.iter().map(|(name, _)| name.as_str()).collect();
        Some(named("role", &names).text("is", role.word()))
    });
    EffectiveNode { name: "form", ..EffectiveNode::default() }
        .tier("tier", raising(*tier))
        .text("says", says)
        .number("least", *least, 0)
        .number("most", *most, u8::MAX)
        .text("output", output.map_or("", Output::word))
        .text("stdin", stdin.map_or("", Role::word))
        .text("writes", writes)
        .with(listed("has", has))
        .with(listed("without", without))
        .with(listed("matching", &matching))
        .with(operands.iter().map(operand))
        .with(roles)
}

/// Returns a tier, unless it is the lowest.
fn raising(tier: Tier) -> Option<Tier> {
    (tier != Tier::ReadOnly).then_some(tier)
}

/// Returns a pattern as fact files write it: a `*` that is the character is `[*]`, and of these a
/// pattern has some only before a `*` at its end.
fn pattern(pattern: &str) -> String {
    match pattern.strip_suffix('*') {
        Some(start) => format!("{}*", start.replace('*', "[*]")),
        None => pattern.to_owned(),
    }
}
