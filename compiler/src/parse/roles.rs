//! `roles { role NAME tier=… parent=… { tools … } }`: what callers may see and do.

use super::node::{Node, Reader};
use super::{argument, empty};
use crate::ast::Role;
use crate::diagnostic::Diagnostics;
use crate::language::roles::{ROLE, ROLES, TOOLS};

pub(super) fn block(node: &Node, out: &mut Diagnostics) -> Vec<Role> {
    empty::check(node, out);
    let mut reader = Reader::new(node, &ROLES, out);
    let roles = reader.children("role").map(|child| role(child, out)).collect();
    reader.finish(out);
    roles
}

fn role(node: &Node, out: &mut Diagnostics) -> Role {
    let mut reader = Reader::new(node, &ROLE, out);
    let role = Role {
        name: reader.argument(out).and_then(|value| value.text(out)),
        new: reader.value("new", out),
        tier: reader.value("tier", out),
        parent: reader.property("parent").and_then(|value| value.non_empty(out)),
        tools: reader.child("tools", out).map(|child| argument::list(child, &TOOLS, out)),
    };
    reader.finish(out);
    role
}
