//! A skill for a user that nobody can be.

use std::collections::BTreeSet;

use miette::Diagnostic;
use relay_bundle::Who;
use relay_engine::nearest::nearest;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::{Model, User};
use crate::source::Span;

/// Only those whom `users` names are admitted, and this user is not among them, so no call would be
/// given the skill.
#[derive(Debug, Error, Diagnostic)]
#[error("nobody can be user `{user}`{of_tenant}")]
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
    // Without roles everyone is admitted. A line that could not be understood may admit the user.
    if access.roles.is_empty() || out.has_errors() {
        return;
    }
    let mut reported = BTreeSet::new();
    for skill in model.skills.list.iter().chain(&model.skills.disabled) {
        let Some(user) = &skill.user else { continue };
        let of_skill = skill.tenant.as_ref().map(|tenant| tenant.value.as_str());
        // A caller of a group, and anyone, may have any id.
        let admits = |row: &&User| {
            let of_row = row.tenant.as_ref().and_then(|it| access.tenants.get(it.value));
            of_skill.is_none()
                || of_row.is_none_or(|tenant| Some(tenant.value.as_str()) == of_skill)
        };
        let mut rows = access.users.iter().filter(admits);
        if rows.any(|row| row.who != Who::User || row.id == user.value) || !reported.insert(user.at)
        {
            continue;
        }
        let users = access.users.iter().filter(admits).map(|row| row.id.as_str());
        let help = match nearest(&user.value, users) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("admit the user: `users {{ user {:?} role=… }}`", user.value),
        };
        let of_tenant = of_skill.map(|tenant| format!(" of tenant `{tenant}`")).unwrap_or_default();
        let at = user.at;
        out.report(at, NoUser { user: user.value.clone(), of_tenant, help, at });
    }
}
