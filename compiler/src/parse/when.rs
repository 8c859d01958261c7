//! `when ENVIRONMENT { … }`: what `--env` replaces.

use super::node::{Node, Reader};
use super::{messages, prompts, resource, tools};
use crate::ast::{Item, When};
use crate::diagnostic::Diagnostics;
use crate::grammar::{Field, Kind, Rule};
use crate::setting::GATE;

/// It may hold everything that has named nodes in it, and what a project has once.
pub(crate) static WHEN: Rule = Rule {
    name: "when",
    what: "a when",
    meaning: "Holds for one environment, `--env NAME`: its nodes replace those of the same kind and name, or add to them.",
    fields: &[Field::argument("an environment", Kind::Text("text"), "The environment's name.")],
    children: &[&GATE, &tools::TOOLS, &prompts::PROMPTS, &messages::MESSAGES, &resource::RESOURCES],
    example: include_str!("../reference/when.kdl"),
};

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> When {
    let mut reader = Reader::new(node, &WHEN, out);
    let environment = reader.argument(out).and_then(|value| value.non_empty(out));
    let mut items: Vec<Item> = Vec::new();
    for rule in WHEN.children {
        items.extend(reader.children(rule.name).filter_map(|child| super::item(child, out)));
    }
    reader.finish(out);
    When { at: node.name.at, environment, items }
}
