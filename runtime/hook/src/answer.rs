//! An answer to an event, before and after it has the form of a client.

use serde_json::Value;

/// The exit code of a denial, which every client takes for one.
pub(crate) const DENIED: u8 = 2;
/// The most characters of a reason: more would be cut by a client, or hide its beginning.
const REASON_CHARS_MAX: usize = 1_000;

/// The answer to an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The client's own rules go on. The text is for the model.
    NoObjection { context: Option<String> },
    /// The call runs unasked. The text is for the model.
    Grant { context: Option<String> },
    /// The client asks a person.
    Ask { reason: String },
    /// The call is refused.
    Deny { reason: String },
}

/// An answer in the form of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The bytes for standard output.
    pub out: Vec<u8>,
    /// The bytes for standard error.
    pub err: Vec<u8>,
    /// The exit code.
    pub code: u8,
    /// The exit code if standard error is closed: a client that wants the reason there takes the
    /// denial on standard output, with exit code 0.
    pub(crate) code_without_reason: u8,
}

impl Answer {
    /// Returns a denial.
    pub(crate) fn deny(reason: &str) -> Self {
        Self::Deny { reason: shortened(reason) }
    }

    /// Returns a question to a person.
    pub(crate) fn ask(reason: &str) -> Self {
        Self::Ask { reason: shortened(reason) }
    }

    /// Returns its word in records.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::NoObjection { .. } => "none",
            Self::Grant { .. } => "allow",
            Self::Ask { .. } => "ask",
            Self::Deny { .. } => "deny",
        }
    }

    /// Returns the text for the model beside a call that runs.
    pub(crate) fn context(&self) -> Option<&str> {
        match self {
            Self::NoObjection { context } | Self::Grant { context } => context.as_deref(),
            Self::Ask { .. } | Self::Deny { .. } => None,
        }
    }
}

impl Output {
    /// Returns an answer that lets the client go on, with nothing on standard output.
    pub(crate) const fn silence() -> Self {
        Self { out: Vec::new(), err: Vec::new(), code: 0, code_without_reason: 0 }
    }

    /// Returns an answer that lets the client go on.
    pub(crate) fn json(value: &Value) -> Self {
        Self { out: value.to_string().into_bytes(), ..Self::silence() }
    }

    /// Returns a denial in all three forms: exit code, standard output and standard error.
    pub(crate) fn denial(value: &Value, reason: &str) -> Self {
        Self {
            out: value.to_string().into_bytes(),
            err: format!("{reason}\n").into_bytes(),
            code: DENIED,
            code_without_reason: 0,
        }
    }
}

/// Returns a reason, cut at the most characters of one.
pub(crate) fn shortened(reason: &str) -> String {
    if reason.chars().nth(REASON_CHARS_MAX).is_none() {
        return reason.to_owned();
    }
    reason.chars().take(REASON_CHARS_MAX - 1).chain(['…']).collect()
}
