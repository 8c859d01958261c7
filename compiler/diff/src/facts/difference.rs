//! One difference between the facts of a program on two sides.

use relay_policy::facts::{Form, Node, Operand, Position};

use crate::direction::Direction;

/// One difference between the facts of a program before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Its place: the sub-commands and the row, in words.
    pub part: String,
    /// The sub-commands that a command with it names.
    pub commands: Vec<String>,
    /// The concept that differs.
    pub concept: Concept,
    /// The facts before, in words; absent if new.
    pub before: Option<String>,
    /// The facts after, in words; absent if gone.
    pub after: Option<String>,
    /// Whether commands are judged lower.
    pub direction: Direction,
    /// The row of the difference in the facts after the change.
    pub row: Row,
    /// Whether the row itself lowers a command: it holds the reason.
    pub lowers: bool,
}

/// The concept in which facts differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Concept {
    /// All of a program.
    Program,
    /// A sub-command, by one of its names.
    SubCommand(String),
    /// The tier of a bare command, or its way of reading words.
    Setting,
    /// Options, by their names, with values that distinguish both sides.
    Options(Vec<String>, Vec<String>),
    /// Operands, with words that distinguish both sides.
    Operands(Vec<String>),
    /// A form, with the words of a command in it.
    Form(Vec<String>),
}

/// A row of a program: the sub-commands by their numbers, then the row itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// The numbers of the sub-commands around it.
    pub subs: Vec<usize>,
    /// The row within that command.
    pub part: RowPart,
}

/// A row of a program or sub-command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowPart {
    /// The command itself.
    #[default]
    Node,
    /// Its options with this number.
    Options(usize),
    /// Its operand with this number.
    Operand(usize),
    /// Its form with this number.
    Form(usize),
}

impl Row {
    /// Returns the row in words, the same on both sides: `stash drop: option -f --force`.
    #[must_use]
    pub fn words(&self, program: &Node) -> String {
        let (mut names, mut node) = (Vec::new(), program);
        for sub in &self.subs {
            let Some(sub) = node.subs.get(*sub) else { break };
            names.push(sub.names.first().map_or("", String::as_str));
            node = sub;
        }
        let row = match self.part {
            RowPart::Node => None,
            RowPart::Options(at) => node.flags.get(at).map(|flag| option_words(&flag.names)),
            RowPart::Operand(at) => Some(operand_words(&node.operands, at)),
            RowPart::Form(at) => node.forms.get(at).map(form_words),
        };
        located(&names, row.as_deref().unwrap_or_default())
    }

    pub(super) fn node(subs: &[usize]) -> Self {
        Self { subs: subs.to_vec(), part: RowPart::Node }
    }

    pub(super) fn part(subs: &[usize], part: RowPart) -> Self {
        Self { subs: subs.to_vec(), part }
    }
}

/// Returns a part of a command with the sub-commands around it.
pub(super) fn located(names: &[&str], part: &str) -> String {
    match (names, part) {
        ([], part) => part.to_owned(),
        (names, "") => names.join(" "),
        (names, part) => format!("{}: {part}", names.join(" ")),
    }
}

/// Returns the words for options, in a fixed order.
pub(super) fn option_words(names: &[String]) -> String {
    let mut names = names.to_vec();
    names.sort_unstable();
    names.dedup();
    format!("option {}", names.join(" "))
}

/// Returns the words for an operand: its number, or the operands that it covers.
pub(super) fn operand_words(operands: &[Operand], at: usize) -> String {
    let Some(operand) = operands.get(at) else { return "operands".into() };
    match operand.position {
        Position::Next => {
            let before = operands.iter().take(at).filter(|it| it.position == Position::Next);
            format!("operand {}", before.count() + 1)
        }
        Position::Rest => "rest of the operands".into(),
        Position::Last => "last operand".into(),
    }
}

/// Returns the words for a form: its conditions.
pub(super) fn form_words(form: &Form) -> String {
    let Form { has, without, least, most, matching, .. } = form;
    let list = |names: &[String], word: &str| {
        let mut names = names.to_vec();
        names.sort_unstable();
        format!("{word} {}", names.join(" "))
    };
    let mut parts = Vec::new();
    if !has.is_empty() {
        parts.push(list(has, "with"));
    }
    if !without.is_empty() {
        parts.push(list(without, "without"));
    }
    match (*least, *most) {
        (0, u8::MAX) => {}
        (0, most) => parts.push(format!("at most {most} operands")),
        (least, u8::MAX) => parts.push(format!("at least {least} operands")),
        (least, most) => parts.push(format!("{least} to {most} operands")),
    }
    if !matching.is_empty() {
        parts.push(list(matching, "operands"));
    }
    if parts.is_empty() { "form".into() } else { format!("form {}", parts.join(", ")) }
}
