//! `users { user ID …; group ID …; anyone … }`: the roles of callers.

use relay_bundle::Who;

use super::shared::NEW;
use crate::grammar::{Field, Kind, Rule};
use crate::setting::settings;
use crate::source::Spanned;

pub(crate) static USERS: Rule = Rule {
    name: "users",
    what: "users",
    meaning: "Who has which role. What authenticates callers says who they are; nothing but these nodes says what they may do. The `user` of a caller's id counts, else its `group`s, else `anyone`; whom none admits is refused. Nodes of another tenant do not apply, and a caller without a tenant takes the node's. A project may have any number of such nodes.",
    fields: &[],
    children: &[&USER, &GROUP, &ANYONE],
    example: include_str!("../reference/users.kdl"),
};

pub(crate) const ROLE: Field =
    Field::property("role", Kind::Name("text"), "The role; it must be given.");
pub(crate) const TENANT: Field = Field::property(
    "tenant",
    Kind::Name("text"),
    "The tenant for which the node counts; without it, every one.",
);

pub(crate) static USER: Rule = Rule::leaf(
    "user",
    "a user",
    "One caller.",
    &[
        Field::argument("an id", Kind::Name("text"), "The id that credentials give."),
        TENANT,
        ROLE,
        NEW,
    ],
);

pub(crate) static GROUP: Rule = Rule::leaf(
    "group",
    "a group",
    "The callers that credentials count to a group. Of several groups the role that contains the others counts.",
    &[
        Field::argument("a group", Kind::Name("text"), "The group, as credentials name it."),
        TENANT,
        ROLE,
        NEW,
    ],
);

pub(crate) static ANYONE: Rule = Rule::leaf(
    "anyone",
    "anyone",
    "Every other caller that is authenticated.",
    &[TENANT, ROLE, NEW],
);

/// Returns the rule of a kind of callers.
pub(crate) fn user_rule(who: Who) -> &'static Rule {
    match who {
        Who::User => &USER,
        Who::Group => &GROUP,
        Who::Anyone => &ANYONE,
    }
}

settings! {
    /// The settings of a `user`, `group` or `anyone`.
    struct UserSettings {}
    USER | GROUP | ANYONE {
        tenant: Option<Spanned<String>> = "tenant",
        role: Option<Spanned<String>> = "role",
    }
}
