//! The caller of a request.

pub(crate) mod activity;
pub(crate) mod approvals;
pub(crate) mod bodies;
pub(crate) mod calls;
pub(crate) mod principal;
pub(crate) mod refusals;
pub(crate) mod rejection;
pub(crate) mod slots;

use std::sync::Arc;

use self::principal::{CallerKey, Principal};

/// Texts of a caller are repeated in records and answers up to this many characters.
const TYPED_CHARS_MAX: usize = 500;

/// The caller of a request, and the request.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) principal: Arc<Principal>,
    /// The tenant and the role that the bundle in force gives it.
    pub(crate) tenant: Option<String>,
    pub(crate) role: Option<String>,
    /// The JSON-RPC id.
    pub(crate) request_id: String,
    /// The W3C trace context.
    pub(crate) traceparent: Option<String>,
}

impl Caller {
    /// Returns the key that distinguishes this caller in records, with the tenant that the bundle
    /// gives.
    pub(crate) fn recorded_key(&self) -> CallerKey {
        Principal { tenant: self.tenant.clone(), ..(*self.principal).clone() }.caller_key()
    }

    /// Returns the operator of the server, who acts without a request.
    pub(crate) fn operator(principal: Arc<Principal>) -> Self {
        let tenant = principal.tenant.clone();
        Self { principal, tenant, role: None, request_id: String::new(), traceparent: None }
    }
}

/// Returns a text of a caller, truncated for records and answers.
pub(crate) fn truncate(text: &str) -> String {
    text.chars().take(TYPED_CHARS_MAX).collect()
}
