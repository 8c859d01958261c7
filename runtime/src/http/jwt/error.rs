//! Why a token is not accepted.

use std::borrow::Cow;
use std::sync::Arc;

use crate::settings::config;

/// Why a token is not accepted.
#[derive(Debug)]
pub(crate) struct TokenError {
    /// For the client.
    pub(crate) reason: Cow<'static, str>,
    /// For the log.
    pub(crate) detail: String,
    /// Whether the token is valid, but lacks a scope.
    pub(crate) lacks_scope: bool,
    /// The issuer that the token names, if it is a known one. It need not be the one that made it.
    pub(crate) issuer: Option<Arc<config::Jwt>>,
}

impl TokenError {
    pub(super) fn new(reason: impl Into<Cow<'static, str>>, detail: String) -> Self {
        Self { reason: reason.into(), detail, lacks_scope: false, issuer: None }
    }

    /// The scopes are those of the configuration.
    pub(super) fn missing_scopes(missing: &[&str]) -> Self {
        let missing = missing.join(" ");
        let reason = format!("the token lacks a scope that this server requires: {missing}");
        Self { lacks_scope: true, ..Self::new(reason, String::new()) }
    }

    pub(super) fn of(self, issuer: &Arc<config::Jwt>) -> Self {
        Self { issuer: Some(issuer.clone()), ..self }
    }
}

impl From<String> for TokenError {
    fn from(reason: String) -> Self {
        Self::new(reason, String::new())
    }
}
