//! The reasons of the rows of a program, each with its place, and the place of each row.

use relay_diff::facts::{Row, RowPart};

use super::written::{children, text};
use crate::ast::FactRow;
use crate::language::facts::OPERANDS;
use crate::language::shared::BECAUSE;
use crate::parse::node::Node;
use crate::source::Spanned;

/// Returns every row below a program, numbered as its facts are.
pub(super) fn rows(program: &Node) -> Vec<FactRow> {
    let mut rows = Vec::new();
    below(program, &[], &mut rows);
    rows
}

fn below(node: &Node, subs: &[usize], rows: &mut Vec<FactRow>) {
    let mut add = |node: &Node, subs: &[usize], part| {
        let because = text(node, BECAUSE.name)
            .map(|word| Spanned { value: word.text.to_owned(), at: word.at });
        rows.push(FactRow { row: Row { subs: subs.to_vec(), part }, at: node.name.at, because });
    };
    for (at, child) in children(node, &["flags"]).enumerate() {
        add(child, subs, RowPart::Options(at));
    }
    let operands =
        OPERANDS.iter().flat_map(|rule| children(node, std::slice::from_ref(&rule.name)));
    for (at, child) in operands.enumerate() {
        add(child, subs, RowPart::Operand(at));
    }
    for (at, child) in children(node, &["form"]).enumerate() {
        add(child, subs, RowPart::Form(at));
    }
    for (at, child) in children(node, &["sub"]).enumerate() {
        let subs = [subs, &[at]].concat();
        add(child, &subs, RowPart::Node);
    }
    for (at, child) in children(node, &["sub"]).enumerate() {
        below(child, &[subs, &[at]].concat(), rows);
    }
}
