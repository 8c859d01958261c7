//! The principal of a request.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

/// The principal of a request, from authentication or the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Principal {
    /// The name in audit records.
    #[serde(default = "local")]
    pub(crate) id: String,
    /// The tenant of the caller.
    #[serde(default)]
    pub(crate) tenant: Option<String>,
    /// The role of the caller.
    #[serde(default)]
    pub(crate) role: Option<String>,
}

/// The part of a principal that distinguishes callers: id and tenant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallerKey {
    id: String,
    tenant: Option<String>,
}

impl Principal {
    /// Returns what distinguishes this caller from others; the role does not.
    pub(crate) fn caller_key(&self) -> CallerKey {
        let Self { id, tenant, role: _ } = self;
        CallerKey { id: id.clone(), tenant: tenant.clone() }
    }

    /// Returns the principal of requests without valid credentials, for records.
    pub(crate) fn unauthenticated() -> Arc<Self> {
        Arc::new(Self { id: "unauthenticated".to_owned(), tenant: None, role: None })
    }

    /// Returns whether `other` is the same caller, perhaps in another role.
    pub(crate) fn is_same_caller(&self, other: &Self) -> bool {
        let Self { id, tenant, role: _ } = self;
        *id == other.id && *tenant == other.tenant
    }
}

impl Default for Principal {
    fn default() -> Self {
        Self { id: local(), tenant: None, role: None }
    }
}

fn local() -> String {
    "local".to_owned()
}
