//! `roles { role NAME tier=… parent=… { tools … } }`: the tools and tiers of callers.

use relay_bundle::Tier;

use super::shared::NEW;
use crate::grammar::{Field, Kind, Literal, Rule};
use crate::setting::settings;
use crate::source::Spanned;

/// The tier of a role without its own and without a parent.
pub(crate) const TIER: Tier = Tier::ReadOnly;

pub(crate) static ROLES: Rule = Rule {
    name: "roles",
    what: "roles",
    meaning: "The roles of the project. Without any, everyone sees everything. A project may have any number of such nodes.",
    fields: &[],
    children: &[&ROLE],
    example: include_str!("../reference/roles.kdl"),
};

pub(crate) static ROLE: Rule = Rule {
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
            "approve",
            Kind::Boolean,
            "`#true` if a person is asked before a call of tier 3.",
        ),
        Field::property(
            "decides",
            Kind::Boolean,
            "`#true` if its callers are gateways: they may ask for decisions on the calls of others, over HTTP (docs/gateway.md). A parent does not pass it on.",
        ),
        Field::property(
            "parent",
            Kind::Name("text"),
            "The role that contains this one: it has at least the tools and the tier of this one, and a `for` that names it admits this one too.",
        ),
        NEW,
    ],
    children: &[&TOOLS],
    example: "",
};

pub(crate) static TOOLS: Rule = Rule::leaf(
    "tools",
    "the tools of a role",
    "The tools that the role sees, by name or by pattern: `*` is any run of characters, `?` one, `[a-z]` one of a set, `[!a-z]` one outside it. Without this node, those of the parent; without a parent, all. Of tools of other servers, `expect`, `relay explain`, `relay diff` and the decisions for gateways go by it; no server of this version calls such tools.",
    &[Field::arguments("a pattern", Kind::Name("text"), "A name or a pattern of names.")],
);

settings! {
    /// The settings of a role as written: it inherits the others.
    struct RoleSettings {}
    ROLE {
        tier: Option<Spanned<Tier>> = "tier",
        approve: Option<Spanned<bool>> = "approve",
        decides: Option<Spanned<bool>> = "decides",
        parent: Option<Spanned<String>> = "parent",
    }
    TOOLS {
        tools: Option<Vec<Spanned<String>>> = "a pattern",
    }
}
