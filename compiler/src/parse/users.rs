//! `users { user ID …; group ID …; anyone … }`: who has which role.

use super::empty;
use super::node::{Node, Reader};
use crate::ast::{User, UserSettings, Who};
use crate::diagnostic::Diagnostics;
use crate::grammar::Rule;
use crate::language::users::{ANYONE, GROUP, USER, USERS};

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
    let mut settings = UserSettings::default();
    reader.settings(settings.of_mut(&USER), out);
    let user = User {
        at: id.as_ref().map_or(node.name.at, |id| id.at),
        who,
        id,
        new: reader.value("new", out),
        settings,
    };
    reader.finish(out);
    user
}
