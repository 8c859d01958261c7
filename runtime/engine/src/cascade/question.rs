//! The question to the cascade: a call, by tenant, tool and user.

use relay_bundle::{Bundle, Corrupt, Who};

/// A call, by tenant, tool and user.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Question<'q> {
    /// The tenant, if the caller gives one.
    pub tenant: Option<&'q str>,
    /// The tool.
    pub tool: Option<&'q str>,
    /// The user.
    pub user: Option<&'q str>,
}

impl Question<'_> {
    /// Returns whether `users` names the user for other tenants only. A caller with that id is then
    /// another person, without skills for the user. Each tenant may have an issuer of its own,
    /// which is free to use any id; callers without a tenant may have one, too.
    pub(super) fn is_of_other_tenant(&self, bundle: &Bundle) -> Result<bool, Corrupt> {
        let Some(user) = self.user else { return Ok(false) };
        let rows = bundle.users().of(Who::User, user)?;
        if rows.is_empty() {
            return Ok(false);
        }
        let own = self.tenant.map(|tenant| bundle.tenants().find(tenant)).transpose()?.flatten();
        for number in rows {
            let of_row = bundle.users().row(number)?.tenant;
            if of_row.is_none_or(|of_row| own == Some(of_row as usize)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the question; a user of another tenant is dropped from it.
    pub(super) fn answered(self, bundle: &Bundle) -> Result<Self, Corrupt> {
        let user = if self.is_of_other_tenant(bundle)? { None } else { self.user };
        Ok(Self { user, ..self })
    }
}
