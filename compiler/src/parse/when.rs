//! `when ENVIRONMENT { … }`: the patch of an `--env`.

use super::item::item;
use super::node::{Node, Reader};
use crate::ast::{Item, When};
use crate::diagnostic::Diagnostics;
use crate::language::{Top, WHEN};

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> When {
    let mut reader = Reader::new(node, &WHEN, out);
    let environment = reader.name(out);
    let mut items: Vec<Item> = Vec::new();
    for rule in WHEN.children {
        let Some(top) = Top::of(rule.name) else { continue };
        items.extend(reader.children(rule.name).filter_map(|child| item(top, child, out)));
    }
    let unknown = reader.unknown_children().count();
    reader.finish(out);
    When { at: node.name.at, environment, items, unknown }
}
