//! `roles { role NAME tier=… parent=… { tools … } }`: what callers may see and do.

use super::node::{Node, Reader};
use super::{argument, empty};
use crate::ast::{Role, RoleSettings};
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
    let mut settings = RoleSettings::default();
    reader.settings(settings.of_mut(&ROLE), out);
    let role = Role {
        name: reader.argument(out).and_then(|value| value.text(out)),
        new: reader.value("new", out),
        settings,
        tools: reader.child("tools", out).map(|child| argument::list(child, &TOOLS, out)),
    };
    reader.finish(out);
    role
}
