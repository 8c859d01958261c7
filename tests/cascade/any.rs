//! Any skills and any question to them.

use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use relay_bundle::{Level, Skill};

use crate::bundle::sample;

/// Tools, of which a bundle may know some.
pub(crate) const TOOLS: &[&str] = &["api-create", "api-read", "db-read", "ssh_exec", "a", "é/b"];
/// Patterns that meet in these tools.
pub(crate) const PATTERNS: &[&str] =
    &["*", "api-*", "*-read", "api-create", "db-read", "?", "[ab]", "[!a-c]*", "*e*", "none-*"];
pub(crate) const TENANTS: &[&str] = &["acme", "globex", ""];
pub(crate) const USERS: &[&str] = &["john", "mary", "acme"];
const TEXTS: &[&str] = &["One.", "Two.\n", "", " \n", "Three\nlines.\t ", "Vier. 😴"];

/// A tenant, a tool and a user.
pub(crate) type Names = (Option<&'static str>, Option<&'static str>, Option<&'static str>);

pub(crate) fn skills(most: usize) -> impl Strategy<Value = Vec<Skill>> {
    vec(skill(), 0..most)
}

fn skill() -> impl Strategy<Value = Skill> {
    let selectors = (
        option::of(select(TENANTS)),
        prop_oneof![Just(Vec::new()), patterns(1), patterns(3)],
        option::of(select(USERS)),
    );
    let topic = option::of(select(&["dates", "money"][..]));
    let standing = (select(&Level::ALL[..]), select(vec![0u8, 50, 50, 100]), "[a-c]", topic);
    (selectors, standing, select(TEXTS)).prop_map(
        |((tenant, tools, user), (level, priority, name, topic), text)| {
            let made = |text: &str| sample::made(text.to_owned());
            Skill {
                priority: sample::made(priority),
                topic: topic.map(made),
                tenant: tenant.map(made),
                tools: tools.into_iter().map(made).collect(),
                user: user.map(made),
                text: made(text),
                ..sample::skill(&name, level)
            }
        },
    )
}

fn patterns(most: usize) -> impl Strategy<Value = Vec<&'static str>> {
    btree_set(select(PATTERNS), 1..=most).prop_map(|patterns| patterns.into_iter().collect())
}

pub(crate) fn names() -> impl Strategy<Value = Names> {
    (option::of(select(TENANTS)), option::of(select(TOOLS)), option::of(select(USERS)))
}

pub(crate) fn known() -> impl Strategy<Value = Vec<&'static str>> {
    btree_set(select(TOOLS), 0..TOOLS.len()).prop_map(|tools| tools.into_iter().collect())
}
