//! A question of a gateway: who wants to send which request.

use serde_json::{Map, Value};
use thiserror::Error;

use super::method::Method;
use crate::caller::principal::Principal;

/// A question.
#[derive(Debug)]
pub(super) struct Question {
    /// The caller of the gateway.
    pub(super) subject: Principal,
    pub(super) target: Target,
}

/// The thing that the request names.
#[derive(Debug)]
pub(super) enum Target {
    Tool(String, Map<String, Value>),
    Prompt(String),
    Resource(String),
    Server,
}

/// The reason for which there is no question to decide. The texts repeat nothing of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(super) enum Unasked {
    /// The request itself is malformed.
    #[error("{0}")]
    Malformed(&'static str),
    /// It is well-formed, and asks about something else than a request of MCP.
    #[error("{0}")]
    Denied(&'static str),
}

/// A well-formed question, or the reason against it, and as much of it as was read before.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) question: Result<Question, Unasked>,
    /// The id of the subject.
    pub(super) subject: Option<String>,
    pub(super) method: Option<&'static Method>,
}

impl Read {
    /// Returns the result of reading nothing.
    pub(super) fn nothing(unasked: Unasked) -> Self {
        Self { question: Err(unasked), subject: None, method: None }
    }
}
