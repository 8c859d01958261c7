//! `for tenant=… role=…`: who sees a prompt or a resource.

use super::node::{Node, Reader};
use crate::ast::For;
use crate::diagnostic::Diagnostics;
use crate::language::readers::FOR;

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
