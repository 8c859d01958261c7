//! `for tenant=… role=…`: who sees a prompt or a resource.

use super::node::{Node, Reader};
use crate::ast::For;
use crate::diagnostic::Diagnostics;
use crate::grammar::{Field, Kind, Rule};

pub(super) static FOR: Rule = Rule::leaf(
    "for",
    "for",
    "Who sees it: callers of this tenant and in this role, or in a role that it contains. One of several is enough; without any, everyone sees it.",
    &[
        Field::property("tenant", Kind::Text("text"), "The tenant; without it, every one."),
        Field::property("role", Kind::Text("text"), "The role; without it, every one."),
    ],
);

/// Reads the `for`s of a node.
pub(super) fn readers(reader: &mut Reader<'_>, out: &mut Diagnostics) -> Vec<For> {
    reader.children(FOR.name).map(|child| one(child, out)).collect()
}

fn one(node: &Node, out: &mut Diagnostics) -> For {
    let mut reader = Reader::new(node, &FOR, out);
    let tenant = reader.property("tenant");
    let role = reader.property("role");
    let written = For {
        at: node.name.at,
        says: tenant.is_some() || role.is_some(),
        tenant: tenant.and_then(|value| value.non_empty(out)),
        role: role.and_then(|value| value.non_empty(out)),
    };
    reader.finish(out);
    written
}
