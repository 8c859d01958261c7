//! `users { user ID …; group ID …; anyone … }`: the roles of callers.

use super::empty;
use super::node::{Node, Reader};
use crate::ast::{User, UserSettings, Who};
use crate::diagnostic::Diagnostics;
use crate::grammar::Rule;
use crate::language::users::{USERS, user_rule};

const ROLE: &str = "role";

pub(super) fn block(node: &Node, out: &mut Diagnostics) -> Vec<User> {
    empty::check(node, out);
    let mut reader = Reader::new(node, &USERS, out);
    let mut users = Vec::new();
    for who in [Who::User, Who::Group, Who::Anyone] {
        let rule = user_rule(who);
        users.extend(reader.children(rule.name).map(|child| user(child, rule, who, out)));
    }
    reader.finish(out);
    users
}

fn user(node: &Node, rule: &'static Rule, who: Who, out: &mut Diagnostics) -> User {
    let mut reader = Reader::new(node, rule, out);
    let id = match who {
        Who::User | Who::Group => reader.name(out),
        Who::Anyone => None,
    };
    let mut settings = UserSettings::default();
    reader.settings(&mut settings, out);
    let user = User {
        at: id.as_ref().map_or(node.name.at, |id| id.at),
        who,
        id,
        new: reader.is_new(out),
        // `role` of a wrong type, as a node, or without its name.
        broken: node.properties.iter().any(|property| property.name.value == ROLE)
            || reader.has_unknown()
            || reader.has_surplus(),
        settings,
    };
    reader.finish(out);
    user
}
