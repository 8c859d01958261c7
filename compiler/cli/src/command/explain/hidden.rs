//! The reason why a prompt or resource seems missing to a caller: it is for others.

use relay_bundle::List;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::audience::{self, Names, Readers};
use crate::caller::Asker;
use crate::failure::Failure;
use crate::output::bold;
use crate::text::printable;

/// Something that the project has and the caller does not see.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Hidden {
    /// Where it was declared: `file:line`.
    at: String,
    /// Who sees it: what its `for`s say, with the roles that contain those.
    seen_by: Vec<Readers>,
    /// The tenant of the caller.
    tenant: Option<String>,
    /// The role of the caller.
    role: Option<String>,
}

impl Hidden {
    /// Returns why a row of a list, declared at `at`, is hidden.
    pub(super) fn of(
        asker: &Asker<'_>,
        list: List,
        row: usize,
        at: impl ToString,
    ) -> Result<Self, Failure> {
        let bundle = asker.bundle;
        let seen_by = Names::of(bundle)?.seen_by(list, row)?.unwrap_or_default();
        let tenant =
            asker.placement.tenant.map(|number| bundle.tenants().name(number)).transpose()?;
        let role = asker.placement.role.and_then(|number| bundle.roles().get(number));
        Ok(Self {
            at: at.to_string(),
            seen_by,
            tenant: tenant.map(str::to_owned),
            role: role.map(|role| role.name.clone()),
        })
    }

    /// Returns it for people.
    pub(super) fn render(&self) -> String {
        let Self { at, seen_by, tenant, role } = self;
        let readers = match seen_by.is_empty() {
            true => "no one".to_owned(),
            false => audience::whole(seen_by),
        };
        let role = role.as_ref().map(|role| format!("role `{role}`"));
        let tenant = match tenant {
            Some(tenant) => format!("tenant `{tenant}`"),
            None => "no tenant".to_owned(),
        };
        let caller = role.map_or_else(|| tenant.clone(), |role| format!("{role}, {tenant}"));
        format!(
            "  {} declared at {}, for {}\n  {} {}\n",
            bold("hidden:"),
            printable(at),
            printable(&readers),
            bold("caller:"),
            printable(&caller),
        )
    }
}
