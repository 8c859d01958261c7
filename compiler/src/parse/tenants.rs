//! `tenants { tenant NAME }`: whom the project serves.

use super::empty;
use super::node::{Node, Reader};
use crate::ast::Tenant;
use crate::diagnostic::Diagnostics;
use crate::language::tenants::{TENANT, TENANTS};

pub(super) fn block(node: &Node, out: &mut Diagnostics) -> Vec<Tenant> {
    empty::check(node, out);
    let mut reader = Reader::new(node, &TENANTS, out);
    let tenants = reader.children("tenant").map(|child| tenant(child, out)).collect();
    reader.finish(out);
    tenants
}

fn tenant(node: &Node, out: &mut Diagnostics) -> Tenant {
    let mut reader = Reader::new(node, &TENANT, out);
    let name = reader.argument(out).and_then(|value| value.text(out));
    let new = reader.value("new", out);
    reader.finish(out);
    Tenant { name, new }
}
