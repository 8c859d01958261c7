//! The person behind a client, who can be asked whether a call may run.

use std::fmt::Debug;
use std::pin::Pin;
use std::time::Duration;

use relay_bundle::Digest;
use thiserror::Error;

use crate::caller::approvals::Spent;

/// The longest wait for an answer. Many clients end a call that takes a minute.
const WAIT_MAX: Duration = Duration::from_secs(50);

/// A question about one call.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    /// The text for the person: the call, and the reason for asking.
    pub(crate) text: String,
    /// The digest of everything that a yes is bound to.
    pub(crate) bound: Digest,
    /// The time for which a yes counts.
    pub(crate) ttl: Duration,
}

impl Question {
    /// Returns the longest wait for the answer.
    pub(crate) fn wait_max(&self) -> Duration {
        self.ttl.min(WAIT_MAX)
    }
}

/// The way to the person behind a client.
pub(crate) trait Person: Debug + Send + Sync {
    /// Asks a question. The future may be dropped, which withdraws it.
    fn ask<'a>(&'a self, question: &'a Question) -> Asking<'a>;
}

/// A question that is being asked.
pub(crate) type Asking<'a> = Pin<Box<dyn Future<Output = Reply> + Send + 'a>>;

/// The reply of a client to a question.
#[derive(Debug)]
pub(crate) enum Reply {
    Yes,
    No(No),
    /// The client asks, and repeats the call with the answer and this state.
    Later {
        state: String,
    },
    /// The client cannot ask.
    Unable,
}

/// Why a reply is no yes. The texts follow the reason for asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum No {
    #[error("the person declined it")]
    Declined,
    #[error("the person closed the question")]
    Cancelled,
    #[error("the client approved it without a decision of a person")]
    Undecided,
    #[error(transparent)]
    Spent(#[from] Spent),
    #[error(
        "the yes is for another call: the call, its folder, its caller, the bundle or the yes itself was altered, or another server asked"
    )]
    Altered,
    #[error("the question was not answered in time")]
    Silent,
}

impl No {
    /// Returns its word in records.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Declined => "declined",
            Self::Cancelled => "closed",
            Self::Undecided => "undecided",
            Self::Spent(Spent::Late) => "late",
            Self::Spent(Spent::Used) => "used",
            Self::Spent(Spent::TooMany) => "too_many",
            Self::Altered => "altered",
            Self::Silent => "silent",
        }
    }
}
