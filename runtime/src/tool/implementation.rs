//! The implementation of a tool.

use std::pin::Pin;

use relay_engine::tool::Arguments;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::call::Call;
use super::decide::Permit;
use super::error::CallError;
use super::gate::{Briefing, Passage};

/// A tool. Its row in the table of `relay-engine` declares everything else about it.
pub(super) trait Tool: Sync {
    /// Runs it for one call.
    ///
    /// The future is dropped when the call is cancelled or reaches its time limit. Threads and
    /// processes that it started must end when `run.stop` is cancelled.
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a>;
}

/// A tool that runs.
pub(super) type Running<'a> = Pin<Box<dyn Future<Output = Result<Outcome, CallError>> + Send + 'a>>;

/// The input of a tool.
#[derive(Debug)]
pub(super) struct Run<'a> {
    pub(super) call: &'a Call,
    pub(super) arguments: Arguments<'a>,
    /// The arguments as they were sent.
    pub(super) given: &'a Map<String, Value>,
    pub(super) passage: Passage,
    /// Cancelled when the call is over.
    pub(super) stop: CancellationToken,
}

/// The result of a tool.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) text: String,
    /// The exit code, for commands.
    pub(super) exit_code: Option<i32>,
    /// Whether the tool reports a failure, such as that of a command.
    pub(super) is_error: bool,
    /// Whether the tool itself ended the work at its time limit.
    pub(super) timed_out: bool,
    /// The session or the forward that it began: the name of its argument in later calls, and the id.
    pub(super) began: Option<(&'static str, String)>,
    /// The briefing, if the tool gives one.
    pub(super) briefing: Option<Briefing>,
}

impl Outcome {
    /// Returns an outcome with only a text.
    pub(super) fn of_text(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}
