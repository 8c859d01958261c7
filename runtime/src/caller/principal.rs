//! The principal of a request.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use thiserror::Error;

/// The most groups of a caller.
pub(crate) const GROUPS_MAX: usize = 256;
/// The most bytes of the name of a group.
pub(crate) const GROUP_BYTES_MAX: usize = 512;

/// The principal of a request, from authentication or the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Principal {
    /// The name in audit records.
    #[serde(default = "local")]
    pub(crate) id: String,
    /// The authorization server that vouches for the caller; `None` for API keys and for
    /// unauthenticated callers.
    #[serde(skip)]
    pub(crate) issuer: Option<String>,
    /// The tenant of the caller.
    #[serde(default)]
    pub(crate) tenant: Option<String>,
    /// The groups of the caller: at most 256, each of at most 512 bytes.
    #[serde(default)]
    pub(crate) groups: Vec<String>,
    /// The role that is wanted for the caller, among those that the bundle gives it.
    #[serde(default)]
    pub(crate) role: Option<String>,
}

/// The part of a principal that distinguishes callers: id, issuer and tenant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallerKey {
    id: String,
    issuer: Option<String>,
    tenant: Option<String>,
}

/// An error in the groups of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum GroupsError {
    #[error("a caller has at most {GROUPS_MAX} groups, not {count}")]
    Count { count: usize },
    #[error("the name of a group has 1 to {GROUP_BYTES_MAX} bytes, not {bytes}")]
    Length { bytes: usize },
}

impl Principal {
    /// Returns the key of this caller: id, issuer and tenant; groups and role are left out.
    pub(crate) fn caller_key(&self) -> CallerKey {
        let Self { id, issuer, tenant, groups: _, role: _ } = self;
        CallerKey { id: id.clone(), issuer: issuer.clone(), tenant: tenant.clone() }
    }

    /// Returns the principal of unauthenticated requests, for records.
    pub(crate) fn unauthenticated() -> Arc<Self> {
        Arc::new(Self { id: "unauthenticated".to_owned(), ..Self::default() })
    }

    /// Returns whether `other` is the same caller, perhaps in other groups or another role.
    pub(crate) fn is_same_caller(&self, other: &Self) -> bool {
        let Self { id, issuer, tenant, groups: _, role: _ } = self;
        *id == other.id && *issuer == other.issuer && *tenant == other.tenant
    }
}

impl CallerKey {
    /// Returns whether this caller has these names.
    pub(crate) fn is(&self, id: &str, issuer: Option<&str>, tenant: Option<&str>) -> bool {
        let Self { id: own, issuer: own_issuer, tenant: own_tenant } = self;
        own == id && own_issuer.as_deref() == issuer && own_tenant.as_deref() == tenant
    }
}

impl Default for Principal {
    fn default() -> Self {
        Self { id: local(), issuer: None, tenant: None, groups: Vec::new(), role: None }
    }
}

/// Checks the number of groups and the lengths of their names.
pub(crate) fn check_groups(groups: &[String]) -> Result<(), GroupsError> {
    let bad = |group: &&String| group.is_empty() || group.len() > GROUP_BYTES_MAX;
    if groups.len() > GROUPS_MAX {
        return Err(GroupsError::Count { count: groups.len() });
    }
    match groups.iter().find(bad) {
        Some(group) => Err(GroupsError::Length { bytes: group.len() }),
        None => Ok(()),
    }
}

fn local() -> String {
    "local".to_owned()
}
