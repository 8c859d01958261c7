//! Checks the facts of a program: finds idle lines, and pairs of lines of which only one counts.
//!
//! The facts of a project and the shipped facts are checked alike.

mod form;
mod operand;
mod option;
mod tier;

use relay_policy::facts::Style;

use super::names::Names;
use super::pattern;
use super::written::{children, text, words};
use crate::diagnostic::Diagnostics;
use crate::parse::node::Node;
use option::Known;

/// Checks the options, operands, forms and sub-commands of `program`.
pub(super) fn program(node: &Node, out: &mut Diagnostics) {
    pattern::check_programs(words(node), out);
    command(node, Style::Gnu, &[], out);
}

/// Checks a program or sub-command; `around` holds the options of the commands around it.
fn command(node: &Node, style: Style, around: &[Known<'_>], out: &mut Diagnostics) {
    let own = text(node, "style").and_then(|style| Style::from_word(style.text));
    let style = own.unwrap_or(style);
    let mut known = option::check(node, style, out);
    known.extend_from_slice(around);
    operand::check(node, out);
    tier::check(node, out);
    form::check(node, &known, out);
    let mut names = Names::of("sub-command");
    for sub in children(node, &["sub"]) {
        names.declare(words(sub), out);
        pattern::check_names(words(sub), out);
        command(sub, style, &known, out);
    }
}
