//! `tenants { tenant NAME }`: the tenants of the project.

use super::shared::NEW;
use crate::grammar::{Field, Kind, Rule};

pub(crate) static TENANTS: Rule = Rule {
    name: "tenants",
    what: "tenants",
    meaning: "The tenants of the project. A name that is not listed here is an error wherever a tenant is named, and a caller of another tenant is refused. A project may have any number of such nodes.",
    fields: &[],
    children: &[&TENANT],
    example: include_str!("../reference/tenants.kdl"),
};

pub(crate) static TENANT: Rule = Rule::leaf(
    "tenant",
    "a tenant",
    "A tenant.",
    &[Field::argument("a name", Kind::Text("text"), "The name that credentials give."), NEW],
);
