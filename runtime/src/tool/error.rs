//! Why a call fails, before its tool runs or in it.

use relay_engine::audit_record::Action;
use relay_engine::select::TagError;
use relay_engine::tool::ArgumentError;
use thiserror::Error;

use super::gate::GateError;
use crate::caller::calls::Interrupted;
use crate::caller::rejection::Rejection;

/// Why a call fails, before its tool runs or in it. The messages are for the model.
#[derive(Debug, Error)]
pub(super) enum CallError {
    /// The request itself is answered with an error.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The call failed in this state. The text repeats nothing that the caller typed.
    #[error("[ERROR: {0}]")]
    Failed(String),
    /// The arguments are invalid for the tool.
    #[error("[ERROR: {0}]")]
    Arguments(#[from] ArgumentError),
    /// The caller may not make this call.
    #[error("{denial}")]
    Denied {
        denial: String,
        reason: String,
        /// The word for the answer of a person who had to approve it.
        approval: Option<&'static str>,
    },
    /// The program is missing, or cannot be executed.
    #[error(
        "[ERROR: the program cannot be executed: it is missing, or its interpreter is, or it is no program]"
    )]
    NotStarted,
    #[error("[TIMEOUT after {run_s_max}s]")]
    TimedOut { run_s_max: u32 },
    /// The client cancelled the call or disconnected, or the server stops.
    #[error("[CANCELLED]")]
    Cancelled,
}

impl CallError {
    /// Returns the rule for the audit record.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::Rejected(rejection) => rejection.rule(),
            Self::Failed(reason) => reason.clone(),
            Self::Arguments(error) => error.rule(),
            Self::Denied { denial: _, reason, approval: _ } => reason.clone(),
            Self::NotStarted => "the program cannot be executed".to_owned(),
            Self::TimedOut { .. } => "timeout".to_owned(),
            Self::Cancelled => "cancelled".to_owned(),
        }
    }

    /// Returns the word for the answer of a person who had to approve the call.
    pub(super) fn approval(&self) -> Option<&'static str> {
        match self {
            Self::Denied { approval, .. } => *approval,
            _ => None,
        }
    }

    /// Returns the action for the audit record.
    pub(super) fn action(&self) -> Action {
        match self {
            Self::Rejected(_)
            | Self::Failed(_)
            | Self::Arguments(_)
            | Self::Denied { .. }
            | Self::NotStarted => Action::Refused,
            Self::TimedOut { .. } => Action::TimedOut,
            Self::Cancelled => Action::Cancelled,
        }
    }
}

impl From<Interrupted> for CallError {
    fn from(interrupted: Interrupted) -> Self {
        match interrupted {
            Interrupted::Cancelled => Self::Cancelled,
            Interrupted::TimedOut { run_s_max } => Self::TimedOut { run_s_max },
        }
    }
}

impl From<GateError> for CallError {
    fn from(error: GateError) -> Self {
        match error {
            GateError::Corrupt(damage) => Rejection::Damaged(damage).into(),
            // The schema limits the number of tags: a request with more is malformed.
            GateError::NoGate | GateError::Tags(TagError::TooMany { .. }) => {
                let text = error.to_string();
                Rejection::Wrong { rule: text.clone(), text }.into()
            }
            GateError::Unbriefed { .. } | GateError::Handle(_) | GateError::Tags(_) => {
                Self::Failed(error.to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_why_a_call_ended() {
        let after = |run_s_max| CallError::from(Interrupted::TimedOut { run_s_max });
        assert_eq!(after(30).to_string(), "[TIMEOUT after 30s]");
        assert_eq!((after(1).reason().as_str(), after(1).action()), ("timeout", Action::TimedOut));
        let cancelled = CallError::from(Interrupted::Cancelled);
        assert_eq!(cancelled.to_string(), "[CANCELLED]");
        assert_eq!(
            (cancelled.reason().as_str(), cancelled.action()),
            ("cancelled", Action::Cancelled)
        );
    }
}
