//! `when ENVIRONMENT { … }`: what `--env` patches.

use super::node::{Node, Reader};
use super::{expect, messages, prompts, resource, roles, skills, tenants, tools, users};
use crate::ast::{Item, When};
use crate::diagnostic::Diagnostics;
use crate::grammar::{Field, Kind, Literal, Rule};
use crate::setting::GATE;

/// It may hold everything that has named nodes in it, and what a project has once.
pub(crate) static WHEN: Rule = Rule {
    name: "when",
    what: "a when",
    meaning: "A patch for one environment, `--env NAME`: a node changes what it says of the node of its kind and name, and everything else stays. A body (`file=`, `text` or `message`s) is one unit, `arg`s and `allow-secret`s go by their name, and a list is replaced. A name that the project does not have is an error, unless `new=#true` adds it.",
    fields: &[Field::argument("an environment", Kind::Text("text"), "The environment's name.")],
    children: &[
        &tenants::TENANTS,
        &roles::ROLES,
        &users::USERS,
        &GATE,
        &tools::TOOLS,
        &prompts::PROMPTS,
        &messages::MESSAGES,
        &resource::RESOURCES,
        &skills::SKILLS,
        &expect::EXPECT,
    ],
    example: include_str!("../reference/when.kdl"),
};

/// The property of a node in a `when` that adds it.
pub(super) const NEW: Field = Field::property(
    "new",
    Kind::Boolean,
    "In a `when`: adds the node, instead of patching the one of its name.",
)
.or(Literal::Boolean(false));

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
