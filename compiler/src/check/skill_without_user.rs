//! A skill for a user that the project never admits.

use std::collections::BTreeSet;

use hashbrown::HashSet;
use miette::Diagnostic;
use relay_bundle::Who;
use relay_engine::nearest::nearest;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::{Access, Model, User};
use crate::source::Span;

/// The most reports that suggest a user: the name is compared with all users.
const SUGGESTED_MAX: usize = 64;

/// `users` admits only the users that it names, and this one is missing there, so the skill would
/// reach no call. A user that `users` names for some tenants is another person in all others.
#[derive(Debug, Error, Diagnostic)]
#[error("no one can be user `{user}`{of_tenant}")]
#[diagnostic(code(skill::no_user))]
struct NoUser {
    user: String,
    of_tenant: String,
    #[help]
    help: String,
    #[label(primary, "not admitted by `users`")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let access = &model.access;
    // If there are no roles, everyone is admitted. A faulty line may admit the user.
    if access.roles.is_empty() || out.error_count() > 0 {
        return;
    }
    let admitted = Admitted::of(access);
    let mut reported = BTreeSet::new();
    for skill in model.skills.list.iter().chain(&model.skills.disabled) {
        let Some(user) = &skill.user else { continue };
        let of_skill = skill.tenant.as_ref().map(|tenant| tenant.value.as_str());
        if admitted.has(&user.value, of_skill) || !reported.insert(user.at) {
            continue;
        }
        let admits = |row: &&User| {
            let of_row = tenant_of(access, row);
            of_skill.is_none() || of_row.is_none() || of_row == of_skill
        };
        let users = access.users.iter().filter(admits).map(|row| row.id.as_str());
        let is_compared = reported.len() <= SUGGESTED_MAX;
        let help = match is_compared.then(|| nearest(&user.value, users)).flatten() {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("admit the user: `users {{ user {:?} role=… }}`", user.value),
        };
        let of_tenant = of_skill.map(|tenant| format!(" of tenant `{tenant}`")).unwrap_or_default();
        let at = user.at;
        out.report(at, NoUser { user: user.value.clone(), of_tenant, help, at });
    }
}

/// The users that `users` admits.
struct Admitted<'m> {
    /// The ids, each with its tenant; absent if it counts for every one.
    ids: BTreeSet<(&'m str, Option<&'m str>)>,
    /// The tenants that admit any id, by a group or `anyone`.
    open: HashSet<Option<&'m str>>,
}

impl<'m> Admitted<'m> {
    fn of(access: &'m Access) -> Self {
        let mut admitted = Self { ids: BTreeSet::new(), open: HashSet::new() };
        for row in &access.users {
            let tenant = tenant_of(access, row);
            if row.who == Who::User {
                admitted.ids.insert((&row.id, tenant));
            } else {
                admitted.open.insert(tenant);
            }
        }
        admitted
    }

    /// Returns whether a caller of a tenant, or of any tenant if it is `None`, can be this user. A
    /// named id is this user only in its tenants: elsewhere the id belongs to another person.
    fn has(&self, user: &str, tenant: Option<&str>) -> bool {
        // `None` sorts before every tenant.
        let first = self.ids.range((user, None)..).next();
        let is_named = first.is_some_and(|(id, _)| *id == user);
        let admits = |of: Option<&str>| match is_named {
            true => self.ids.contains(&(user, of)),
            false => self.open.contains(&of),
        };
        match tenant {
            None => is_named || !self.open.is_empty(),
            Some(_) => admits(None) || admits(tenant),
        }
    }
}

fn tenant_of<'m>(access: &'m Access, row: &User) -> Option<&'m str> {
    let tenant = row.tenant.as_ref().and_then(|tenant| access.tenants.get(tenant.value));
    tenant.map(|tenant| tenant.value.as_str())
}
