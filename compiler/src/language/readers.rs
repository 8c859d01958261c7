//! `for tenant=… role=…`: who sees a prompt or a resource.

use crate::grammar::{Field, Kind, Rule};

pub(crate) static FOR: Rule = Rule::leaf(
    "for",
    "for",
    "Who sees it: callers of this tenant and in this role, or in a role that it contains. One of several is enough; without any, everyone sees it.",
    &[
        Field::property("tenant", Kind::Text("text"), "The tenant; without it, every one."),
        Field::property("role", Kind::Text("text"), "The role; without it, every one."),
    ],
);
