//! Why a token is rejected.

use std::borrow::Cow;
use std::sync::Arc;

use crate::settings::config;

/// Why a token is rejected.
#[derive(Debug)]
pub(crate) struct TokenError {
    /// For the client.
    pub(crate) reason: Cow<'static, str>,
    /// For the log.
    pub(crate) detail: String,
    pub(crate) kind: TokenErrorKind,
    /// The known issuer that the token names. Another one may have made it.
    pub(crate) issuer: Option<Arc<config::Jwt>>,
}

/// The kind of a rejected token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenErrorKind {
    /// It is invalid here.
    Invalid,
    /// It is valid, but lacks a scope.
    LacksScope,
    /// It is unchecked: keys of its issuer are missing.
    NoKeys,
    /// The proof of the key that it is bound to is missing or invalid.
    BadProof,
    /// The memory for proofs is full.
    TooManyProofs,
}

impl TokenError {
    pub(super) fn new(reason: impl Into<Cow<'static, str>>, detail: String) -> Self {
        Self { reason: reason.into(), detail, kind: TokenErrorKind::Invalid, issuer: None }
    }

    /// The scopes are those of the configuration.
    pub(super) fn missing_scopes(missing: &[&str]) -> Self {
        let missing = missing.join(" ");
        let reason = format!("the token lacks a scope that this server requires: {missing}");
        Self { kind: TokenErrorKind::LacksScope, ..Self::new(reason, String::new()) }
    }

    pub(super) fn no_keys(reason: &'static str) -> Self {
        Self { kind: TokenErrorKind::NoKeys, ..Self::new(reason, String::new()) }
    }

    pub(super) fn bad_proof(reason: &'static str, detail: String) -> Self {
        Self { kind: TokenErrorKind::BadProof, ..Self::new(reason, detail) }
    }

    pub(super) fn too_many_proofs(reason: &'static str) -> Self {
        Self { kind: TokenErrorKind::TooManyProofs, ..Self::new(reason, String::new()) }
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
