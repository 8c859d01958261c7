//! Operands that stay unread, and idle limits on operands.

use miette::Diagnostic;
use relay_policy::facts::Role;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::language::facts::OPERANDS;
use crate::parse::facts::written::{children, number, place, role, words};
use crate::parse::node::Node;
use crate::source::Span;

/// Checks the operands of a command or a form.
pub(super) fn check(node: &Node, out: &mut Diagnostics) {
    let names = OPERANDS.map(|rule| rule.name);
    report_idle(node, out);
    let mut taken_at = None;
    let mut last_at = None;
    for operand in children(node, &names) {
        let at = operand.name.at;
        let is_last = operand.name.value == "last";
        let before = if is_last { last_at } else { taken_at };
        if let Some(before_at) = before {
            out.report(at, UnreachedOperand { before_at, at });
        }
        let takes_rest = role(operand).is_some_and(|role| role.takes_rest());
        if is_last {
            last_at = last_at.or(Some(at));
        } else if operand.name.value == "rest" || takes_rest {
            taken_at = taken_at.or(words(operand).next().map(|role| role.at));
        }
        for at in children(operand, &["value"]).filter_map(|value| place(value, "cap")) {
            out.report(at, IdleCap { at });
        }
    }
}

/// Reports the unread operands of a command with sub-commands: the word at their place is a
/// sub-command, and the words after it belong to the sub-command.
fn report_idle(node: &Node, out: &mut Diagnostics) {
    let Some(sub) = children(node, &["sub"]).next() else { return };
    let names = OPERANDS.map(|rule| rule.name);
    let mut operands = children(node, &names).peekable();
    // An operand that is a script is read: a word other than a sub-command is the script.
    if operands.peek().is_some_and(|first| role(first) == Some(Role::Script)) {
        return;
    }
    let before = number(node, "sub-at").map_or(1, |at| at.value).saturating_sub(1);
    for operand in operands.skip(usize::from(before)) {
        out.report(operand.name.at, IdleOperand { sub_at: sub.name.at, at: operand.name.at });
    }
}

/// The word at the place of this operand is read as a sub-command, so a row about it has no effect.
#[derive(Debug, Error, Diagnostic)]
#[error("no word reaches this operand, since the command has sub-commands")]
#[diagnostic(
    code(fact::idle_operand),
    severity(Warning),
    help(
        "write it in the `sub` that takes it; `sub-at=2` says that one operand is before the sub-command"
    )
)]
struct IdleOperand {
    #[label("the word is a sub-command")]
    sub_at: Span,
    #[label(primary, "without effect")]
    at: Span,
}

/// The operand before it takes all words that remain. An author who wrote this one expects another
/// reading of the words.
#[derive(Debug, Error, Diagnostic)]
#[error("no word reaches this operand")]
#[diagnostic(
    code(fact::unreached_operand),
    help("write it before the one that takes the rest, or remove one of them")
)]
struct UnreachedOperand {
    #[label("takes the words")]
    before_at: Span,
    #[label(primary, "nothing is left")]
    at: Span,
}

/// Only options limit the tier of a command, as `--dry-run` does; the values of operands only raise
/// it. A limit here would have no effect.
#[derive(Debug, Error, Diagnostic)]
#[error("`cap` has no effect on the value of an operand")]
#[diagnostic(
    code(fact::idle_cap),
    help("remove it; a `form` with `matching` lowers the tier of a command by its operands")
)]
struct IdleCap {
    #[label(primary, "without effect")]
    at: Span,
}
