//! Groups whose roles do not contain each other.
//!
//! A caller whose credentials name both groups is refused, since each role has something that the
//! other lacks.

use std::collections::BTreeMap;

use miette::Diagnostic;
use thiserror::Error;

use crate::ast::Who;
use crate::diagnostic::Diagnostics;
use crate::model::{Model, User};
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("a caller of both groups `{first}` and `{second}` is refused")]
#[diagnostic(
    code(user::groups_apart),
    severity(Warning),
    help(
        "neither of the roles `{first_role}` and `{second_role}` contains the other: give one of them the other as its `parent`, or give callers of both a `user` of their own"
    )
)]
struct GroupsApart {
    first: String,
    first_role: String,
    second: String,
    second_role: String,
    #[label("this one has the role `{first_role}`")]
    first_at: Span,
    #[label(primary, "and this one the role `{second_role}`")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let access = &model.access;
    let contains = |wide: usize, role: usize| access.ancestors(role).any(|it| it == wide);
    let groups = || access.users.iter().filter(|user| user.who == Who::Group);
    // Groups of one role and tenant behave alike, so one of them represents all.
    let mut examples: BTreeMap<(Option<usize>, usize), &User> = BTreeMap::new();
    for group in groups() {
        let tenant = group.tenant.as_ref().map(|tenant| tenant.value);
        examples.entry((tenant, group.role.value)).or_insert(group);
    }
    let mut reported = BTreeMap::new();
    let examples: Vec<_> = examples.into_iter().collect();
    for (index, ((tenant, role), second)) in examples.iter().enumerate() {
        for ((other_tenant, other), first) in examples.iter().take(index) {
            let meet = tenant.is_none() || other_tenant.is_none() || tenant == other_tenant;
            if !meet || contains(*role, *other) || contains(*other, *role) {
                continue;
            }
            // One report for each pair of roles.
            if reported.insert((*other, *role), ()).is_some() {
                continue;
            }
            let name = |role: usize| {
                access.roles.get(role).map(|role| role.name.value.clone()).unwrap_or_default()
            };
            out.report(
                second.at,
                GroupsApart {
                    first: first.id.clone(),
                    first_role: name(*other),
                    second: second.id.clone(),
                    second_role: name(*role),
                    first_at: first.at,
                    at: second.at,
                },
            );
        }
    }
}
