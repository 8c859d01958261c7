//! `tenants { tenant NAME }`: whom the project serves.

use super::node::{Node, Reader};
use super::{empty, when};
use crate::ast::Tenant;
use crate::diagnostic::Diagnostics;
use crate::grammar::{Field, Kind, Rule};

pub(crate) static TENANTS: Rule = Rule {
    name: "tenants",
    what: "tenants",
    meaning: "The tenants of the project. A name that is not listed here is an error wherever a tenant is named, and a caller of another tenant is refused. A project may have any number of such nodes.",
    fields: &[],
    children: &[&TENANT],
    example: include_str!("../reference/tenants.kdl"),
};

static TENANT: Rule = Rule::leaf(
    "tenant",
    "a tenant",
    "A tenant.",
    &[Field::argument("a name", Kind::Text("text"), "The name that credentials give."), when::NEW],
);

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
