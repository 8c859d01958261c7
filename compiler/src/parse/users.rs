//! `users { user ID …; group ID …; anyone … }`: who has which role.

use super::node::{Node, Reader};
use super::{empty, when};
use crate::ast::{User, Who};
use crate::diagnostic::Diagnostics;
use crate::grammar::{Field, Kind, Rule};

pub(crate) static USERS: Rule = Rule {
    name: "users",
    what: "users",
    meaning: "Who has which role. What authenticates callers says who they are; nothing but these nodes says what they may do. The `user` of a caller's id counts, else its `group`s, else `anyone`; whom none admits is refused. Nodes of another tenant do not apply, and a caller without a tenant takes the node's. A project may have any number of such nodes.",
    fields: &[],
    children: &[&USER, &GROUP, &ANYONE],
    example: include_str!("../reference/users.kdl"),
};

const ROLE: Field = Field::property("role", Kind::Text("text"), "The role; it must be given.");
const TENANT: Field = Field::property(
    "tenant",
    Kind::Text("text"),
    "The tenant for which the node counts; without it, every one.",
);

static USER: Rule = Rule::leaf(
    "user",
    "a user",
    "One caller.",
    &[
        Field::argument("an id", Kind::Text("text"), "The id that credentials give."),
        TENANT,
        ROLE,
        when::NEW,
    ],
);

static GROUP: Rule = Rule::leaf(
    "group",
    "a group",
    "The callers that credentials count to a group. Of several groups the role that contains the others counts.",
    &[
        Field::argument("a group", Kind::Text("text"), "The group, as credentials name it."),
        TENANT,
        ROLE,
        when::NEW,
    ],
);

static ANYONE: Rule = Rule::leaf(
    "anyone",
    "anyone",
    "Every other caller that is authenticated.",
    &[TENANT, ROLE, when::NEW],
);

pub(super) fn block(node: &Node, out: &mut Diagnostics) -> Vec<User> {
    empty::check(node, out);
    let mut reader = Reader::new(node, &USERS, out);
    let mut users = Vec::new();
    for (rule, who) in [(&USER, Who::User), (&GROUP, Who::Group), (&ANYONE, Who::Anyone)] {
        users.extend(reader.children(rule.name).map(|child| user(child, rule, who, out)));
    }
    reader.finish(out);
    users
}

fn user(node: &Node, rule: &'static Rule, who: Who, out: &mut Diagnostics) -> User {
    let mut reader = Reader::new(node, rule, out);
    let id = match who {
        Who::User | Who::Group => reader.argument(out).and_then(|value| value.non_empty(out)),
        Who::Anyone => None,
    };
    let user = User {
        at: id.as_ref().map_or(node.name.at, |id| id.at),
        who,
        id,
        new: reader.value("new", out),
        tenant: reader.property("tenant").and_then(|value| value.non_empty(out)),
        role: reader.property("role").and_then(|value| value.non_empty(out)),
    };
    reader.finish(out);
    user
}
