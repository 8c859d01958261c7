//! An `expect` for a caller that the project admits nowhere.

use miette::Diagnostic;
use relay_bundle::Corrupt;
use relay_engine::place::{self, Identity, NoPlace, Placement};
use thiserror::Error;

use super::case::Case;
use crate::ast::{Expect, Question};
use crate::source::Span;

/// A server refuses this caller, so there is no answer to compare.
#[derive(Debug, Error, Diagnostic)]
#[error("a server refuses this caller: {reason}")]
#[diagnostic(code(expect::no_place))]
struct Refused {
    reason: NoPlace,
    #[help]
    help: String,
    #[label(primary, "has no place in the project")]
    at: Span,
}

impl Case<'_, '_> {
    /// Places the caller; a refusal is reported.
    pub(super) fn place(&mut self) -> Result<Option<Placement>, Corrupt> {
        let Expect { question, tenant, role, user, groups, .. } = self.expect;
        let groups: Vec<String> = groups.iter().map(|group| group.value.clone()).collect();
        let identity = Identity {
            id: user.as_ref().map_or("", |user| &user.value),
            tenant: tenant.as_ref().map(|tenant| tenant.value.as_str()),
            groups: &groups,
            role: role.as_ref().map(|role| role.value.as_str()),
        };
        if *question == Question::Context && role.is_none() && !identity.names_who() {
            // Skills are the same for all roles, so an `expect` may leave the caller open.
            let tenant =
                identity.tenant.map(|name| self.bundle.tenants().find(name)).transpose()?;
            return Ok(Some(Placement { tenant: tenant.flatten(), role: None, row: None }));
        }
        let reason = match place::preview(self.bundle, &identity)? {
            Ok(placement) => return Ok(Some(placement)),
            Err(reason) => reason,
        };
        let roles: Vec<&str> =
            self.declared.roles.iter().map(|role| role.name.value.as_str()).collect();
        let help = match identity.names_who() {
            true => "`users` of the project says who is admitted, and with which role".into(),
            false => format!(
                "`users` admits no one without a name: say who asks, with `user=` or `role=` ({})",
                roles.join(", ")
            ),
        };
        let not_its = matches!(reason, NoPlace::NotItsRole(_));
        let named = [role.as_ref().filter(|_| not_its), user.as_ref(), role.as_ref()];
        let at = named.into_iter().flatten().next().map_or(self.expect.at, |name| name.at);
        self.fail(at, Refused { reason, help, at });
        Ok(None)
    }
}
