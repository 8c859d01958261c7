//! `when ENVIRONMENT { … }`: what `--env` patches.

use super::item::item;
use super::node::{Node, Reader};
use crate::ast::{Item, When};
use crate::diagnostic::Diagnostics;
use crate::language::WHEN;

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> When {
    let mut reader = Reader::new(node, &WHEN, out);
    let environment = reader.argument(out).and_then(|value| value.non_empty(out));
    let mut items: Vec<Item> = Vec::new();
    for rule in WHEN.children {
        items.extend(reader.children(rule.name).filter_map(|child| item(child, out)));
    }
    reader.finish(out);
    When { at: node.name.at, environment, items }
}
