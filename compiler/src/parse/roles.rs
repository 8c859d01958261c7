//! `roles { role NAME tier=… parent=… { tools … } }`: what callers may see and do.

use relay_bundle::Tier;

use super::node::{Node, Reader};
use super::{argument, empty, when};
use crate::ast::Role;
use crate::diagnostic::Diagnostics;
use crate::grammar::{Field, Kind, Literal, Rule};

/// The tier of a role that names none and has no parent.
pub(crate) const TIER: Tier = Tier::ReadOnly;

pub(crate) static ROLES: Rule = Rule {
    name: "roles",
    what: "roles",
    meaning: "The roles of the project. Without any, everyone sees everything. A project may have any number of such nodes.",
    fields: &[],
    children: &[&ROLE],
    example: include_str!("../reference/roles.kdl"),
};

static ROLE: Rule = Rule {
    name: "role",
    what: "a role",
    meaning: "A role. Who has it is said by `users`.",
    fields: &[
        Field::argument("a name", Kind::Text("text"), "What `users`, `for` and records call it."),
        Field::property(
            "tier",
            Kind::TIER,
            "The most tier that a call of this role may reach: 0 reads, 3 cannot be undone. Without it, that of the parent.",
        )
        .or(Literal::Number(TIER as u64)),
        Field::property(
            "parent",
            Kind::Text("text"),
            "The role that contains this one: it has at least the tools and the tier of this one, and a `for` that names it admits this one too.",
        ),
        when::NEW,
    ],
    children: &[&TOOLS],
    example: "",
};

static TOOLS: Rule = Rule::leaf(
    "tools",
    "the tools of a role",
    "The tools that the role sees, by name or by pattern: `*` is any run of characters, `?` one, `[a-z]` one of a set, `[!a-z]` one outside it. Without this node, those of the parent; without a parent, all.",
    &[Field::arguments("a pattern", Kind::Text("text"), "A name or a pattern of names.")],
);

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
