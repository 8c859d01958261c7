//! `tenants { tenant NAME }`: the tenants of the project.

use super::empty;
use super::node::{Node, Reader};
use crate::ast::Tenant;
use crate::diagnostic::Diagnostics;
use crate::language::tenants::{TENANT, TENANTS};

pub(super) fn block(node: &Node, out: &mut Diagnostics) -> Vec<Tenant> {
    empty::check(node, out);
    let mut reader = Reader::new(node, &TENANTS, out);
    let mut tenants: Vec<Tenant> =
        reader.children(TENANT.name).map(|child| tenant(child, out)).collect();
    let bare = reader.bare_names().into_iter();
    tenants.extend(bare.map(|name| Tenant { name: Some(name), new: None }));
    reader.finish(out);
    tenants
}

fn tenant(node: &Node, out: &mut Diagnostics) -> Tenant {
    let mut reader = Reader::new(node, &TENANT, out);
    let tenant = Tenant { name: reader.name(out), new: reader.is_new(out) };
    reader.finish(out);
    tenant
}
