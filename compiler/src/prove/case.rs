//! An `expect` while it is proved.

use miette::Diagnostic;
use relay_bundle::Bundle;
use relay_engine::authority::Authority;
use relay_engine::place::Placement;

use super::declared::Declared;
use crate::ast::Expect;
use crate::diagnostic::Diagnostics;
use crate::source::{Sources, Span};

/// An `expect` while it is proved.
pub(super) struct Case<'c, 's> {
    pub(super) sources: &'c Sources<'s>,
    pub(super) bundle: &'c Bundle,
    pub(super) authority: &'c Authority,
    pub(super) declared: &'c Declared,
    pub(super) expect: &'c Expect,
    pub(super) failures: Vec<(Span, String)>,
    pub(super) out: &'c mut Diagnostics,
}

impl Case<'_, '_> {
    /// Reports a failure of the `expect`.
    pub(super) fn fail(&mut self, at: Span, diagnostic: impl Diagnostic + Send + Sync + 'static) {
        self.failures.push((at, diagnostic.to_string()));
        self.out.report(at, diagnostic);
    }

    /// Describes a caller for people.
    pub(super) fn caller(&self, placement: &Placement) -> String {
        let tenant = placement.tenant.and_then(|tenant| self.declared.tenants.get(tenant));
        let role = placement.role.and_then(|role| self.declared.roles.get(role));
        match (role, tenant) {
            (Some(role), Some(tenant)) => {
                format!(
                    "the caller has the role `{}` in tenant `{}`",
                    role.name.value, tenant.value
                )
            }
            (Some(role), None) => format!("the caller has the role `{}`", role.name.value),
            (None, Some(tenant)) => format!("the caller is of tenant `{}`", tenant.value),
            (None, None) if self.declared.tenants.is_empty() => {
                "the project has no tenants and no roles".into()
            }
            (None, None) => "the caller is of no tenant".into(),
        }
    }
}
