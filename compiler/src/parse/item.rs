//! The nodes of a document, each read by the module of its kind.

use super::node::{self, Node};
use super::{
    expect, gate, messages, policy, project, prompts, resource, roles, skills, tenants, tools,
    users,
};
use crate::ast::Item;
use crate::diagnostic::Diagnostics;
use crate::language;

/// Reads a node that may be at the top of a document and in a `when`.
pub(super) fn item(node: &Node, out: &mut Diagnostics) -> Option<Item> {
    match node.name.value.as_str() {
        "project" => Some(Item::Project(project::node(node, out))),
        "gate" => Some(Item::Gate(gate::node(node, out))),
        "tenants" => Some(Item::Tenants(tenants::block(node, out))),
        "roles" => Some(Item::Roles(roles::block(node, out))),
        "users" => Some(Item::Users(users::block(node, out))),
        "tools" => Some(Item::Tools(tools::node(node, out))),
        "policy" => Some(Item::Policy(policy::node(node, out))),
        "prompts" => Some(Item::Prompts(prompts::node(node, out))),
        "messages" => Some(Item::Messages(messages::node(node, out))),
        "skills" => Some(Item::Skills(skills::node(node, out))),
        "resources" => Some(Item::Resources(resource::block(node, out))),
        "expect" => expect::node(node, out).map(Item::Expect),
        _ => {
            let known: Vec<&str> = language::TOP.iter().map(|rule| rule.name).collect();
            node::unknown(node, &known, "a project", out);
            None
        }
    }
}
