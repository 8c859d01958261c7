//! Who asks, and by which request.

use std::sync::Arc;

use crate::principal::Principal;

/// What a caller names is repeated, in records and answers, up to this many characters.
const TYPED_CHARS_MAX: usize = 500;

/// Who asks, and by which request.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) principal: Arc<Principal>,
    /// The JSON-RPC id.
    pub(crate) request_id: String,
    /// The W3C trace context.
    pub(crate) traceparent: Option<String>,
}

impl Caller {
    /// Returns the operator of the server, who asks by no request.
    pub(crate) fn operator(principal: Arc<Principal>) -> Self {
        Self { principal, request_id: String::new(), traceparent: None }
    }
}

/// Returns what a caller typed, truncated to what is repeated of it.
pub(crate) fn truncate(text: &str) -> String {
    text.chars().take(TYPED_CHARS_MAX).collect()
}
