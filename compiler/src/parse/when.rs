//! `when ENVIRONMENT { … }`: what `--env` replaces.

use super::node::{Node, Reader};
use crate::ast::{Item, When};
use crate::diagnostic::Diagnostics;

/// What may stand in a `when`: everything that has named nodes in it, and what a project has once.
const INSIDE: &[&str] = &["gate", "tools", "prompts", "messages", "resources"];

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> When {
    let mut reader = Reader::new(node, out);
    let environment = reader.argument("an environment", out);
    let environment = environment.and_then(|value| value.non_empty(out));
    let mut items: Vec<Item> = Vec::new();
    for name in INSIDE {
        items.extend(reader.children(name).filter_map(|child| super::item(child, out)));
    }
    reader.finish("a when", out);
    When { at: node.name.at, environment, items }
}
