//! `roles { role NAME tier=… parent=… { tools … } }`: the tools and tiers of callers.

use super::empty;
use super::node::{Node, Reader};
use crate::ast::{Role, RoleSettings};
use crate::diagnostic::Diagnostics;
use crate::language::roles::{ROLE, ROLES};

pub(super) fn block(node: &Node, out: &mut Diagnostics) -> Vec<Role> {
    empty::check(node, out);
    let mut reader = Reader::new(node, &ROLES, out);
    let mut roles: Vec<Role> = reader.children(ROLE.name).map(|child| role(child, out)).collect();
    let bare = reader.bare_names().into_iter();
    let bare = bare.map(|name| Role { name: Some(name), new: None, settings: Default::default() });
    roles.extend(bare);
    reader.finish(out);
    roles
}

fn role(node: &Node, out: &mut Diagnostics) -> Role {
    let mut reader = Reader::new(node, &ROLE, out);
    let mut settings = RoleSettings::default();
    reader.settings(&mut settings, out);
    let role = Role { name: reader.name(out), new: reader.is_new(out), settings };
    reader.finish(out);
    role
}
