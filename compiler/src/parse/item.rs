//! The nodes of a document and of a `when`, each read by the module of its kind.

use super::node::Node;
use super::{
    expect, gate, hosts, messages, policy, project, prompts, resource, roles, skills, tenants,
    tools, users,
};
use crate::ast::Item;
use crate::diagnostic::Diagnostics;
use crate::language::Top;

/// Reads a node; `None` for a node that its document reads, and for one with faults.
pub(super) fn item(top: Top, node: &Node, out: &mut Diagnostics) -> Option<Item> {
    match top {
        Top::Project => Some(Item::Project(project::node(node, out))),
        Top::Tenants => Some(Item::Tenants(tenants::block(node, out))),
        Top::Roles => Some(Item::Roles(roles::block(node, out))),
        Top::Users => Some(Item::Users(users::block(node, out))),
        Top::Gate => Some(Item::Gate(gate::node(node, out))),
        Top::Hosts => Some(Item::Hosts(hosts::node(node, out))),
        Top::Tools => Some(Item::Tools(tools::node(node, out))),
        Top::Policy => Some(Item::Policy(Box::new(policy::node(node, out)))),
        Top::Prompts => Some(Item::Prompts(prompts::node(node, out))),
        Top::Messages => Some(Item::Messages(messages::node(node, out))),
        Top::Resources => Some(Item::Resources(resource::block(node, out))),
        Top::Skills => Some(Item::Skills(skills::node(node, out))),
        Top::Expect => expect::node(node, out).map(Item::Expect),
        Top::Include | Top::Facts | Top::When => None,
    }
}
